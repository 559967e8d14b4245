import type { Path } from '../path.ts';
import type { InventoryFile } from '../schema.ts';

/** What a rule has to say about one setting. A warning does not stop anything. */
export interface Violation {
  readonly severity: 'problem' | 'warning';
  readonly path: Path;
  readonly message: string;
}

/** Something that an inventory must keep beyond the form of its settings. Pure. */
export type Rule = (file: InventoryFile) => readonly Violation[];

/** What makes the inventory unusable; the message says what is allowed. */
export const problem = (path: Path, message: string): Violation => ({ severity: 'problem', path, message });

/** What the user should know. */
export const warning = (path: Path, message: string): Violation => ({ severity: 'warning', path, message });

/** The items whose key another item before them has, with that item's index. */
export function repeated<T>(
  items: readonly T[],
  key: (item: T) => string | undefined,
): readonly { readonly index: number; readonly first: number; readonly key: string }[] {
  const seen = new Map<string, number>();
  return items.flatMap((item, index) => {
    const value = key(item);
    if (value === undefined) return [];
    const first = seen.get(value);
    if (first === undefined) seen.set(value, index);
    return first === undefined ? [] : [{ index, first, key: value }];
  });
}
