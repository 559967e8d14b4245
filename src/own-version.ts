import { readFileSync } from 'node:fs';

/** kbuild's own version, by its package. */
export const ownVersion = (): string =>
  (JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')) as { readonly version: string })
    .version;
