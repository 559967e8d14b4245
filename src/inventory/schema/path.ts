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
