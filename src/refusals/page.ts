/** What docs/refusals.md and `kbuild explain refusal NAME` say about a refusal (exit 7). */
export interface RefusalPage {
  /** The rest of the sentence "kbuild refuses when …". */
  readonly title: string;
  /** What would go wrong otherwise, and what the operator does. Markdown. */
  readonly why: string;
}

/** Pages by the name of the refusal. A name is stable: scripts and people rely on it. */
export type RefusalPages = Readonly<Record<string, RefusalPage>>;
