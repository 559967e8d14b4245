import type { InventoryFile } from './schema.ts';

/** Where a setting stands in the inventory: names of settings and numbers of list items. */
export type Path = readonly (string | number)[];

/** `hosts[1].labels["a.b/c"]`: a path as people write it; empty for the whole file. */
export const showPath = (path: Path): string =>
  path
    .map((part, i) => {
      if (typeof part === 'number') return `[${part}]`;
      if (!/^[\w-]+$/.test(part)) return `[${JSON.stringify(part)}]`;
      return i === 0 ? part : `.${part}`;
    })
    .join('');

/** A rule's finding about one setting. A warning does not stop kbuild. */
export interface Violation {
  readonly severity: 'problem' | 'warning';
  readonly path: Path;
  readonly message: string;
}

/** A rule for inventories beyond the schema. Pure. */
export type Rule = (file: InventoryFile) => readonly Violation[];

/** A finding that makes the inventory invalid. The message names what is allowed. */
export const problem = (path: Path, message: string): Violation => ({ severity: 'problem', path, message });

/** A finding that the operator should know. */
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
