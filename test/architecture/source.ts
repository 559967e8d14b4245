/** The files of `src` and what they import from each other. */
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { filesIn } from '../tools/files-in.ts';

export const root = fileURLToPath(new URL('../../', import.meta.url));
export const src = join(root, 'src');

/** Paths below `src`. */
export const files = filesIn('src', '.ts');

/** The text of a file of `src`. */
export const textOf = (file: string): string => readFileSync(join(src, file), 'utf8');

/** A text without its comments. */
export const withoutComments = (text: string): string =>
  text.replaceAll(/\/\*[\s\S]*?\*\//g, '').replaceAll(/^\s*\/\/.*$/gm, '');

/** The rooms: the folders of `src`. */
export const rooms = readdirSync(src, { withFileTypes: true })
  .filter((entry) => entry.isDirectory())
  .map(({ name }) => name);

export interface Import {
  readonly from: string;
  readonly to: string;
}

export const imports: readonly Import[] = files.flatMap((from) =>
  [...textOf(from).matchAll(/(?:from|import)\s*\(?'([^']+)'/g)].map(([, specifier]) => ({
    from,
    to: specifier!.startsWith('.') ? relative(src, resolve(dirname(join(src, from)), specifier!)) : specifier!,
  })),
);

/** True for an import of another file of `src`. */
export const isOwn = ({ to }: Import): boolean => to.endsWith('.ts');
