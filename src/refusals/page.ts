/**
 * What docs/refusals.md and `kbuild explain refusal NAME` say about a refusal (exit 7). It stands under its name, which
 * is stable: scripts and people rely on it.
 */
export interface RefusalPage {
  /** The rest of the sentence "kbuild refuses when …". */
  readonly title: string;
  /** What would go wrong otherwise, and what the operator does. Markdown; a list: the lines of one paragraph. */
  readonly why: string | readonly string[];
}
