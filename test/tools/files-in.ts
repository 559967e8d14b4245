import { readdirSync } from 'node:fs';

const root = new URL('../../', import.meta.url);

/**
 * Paths in a folder of the project, below it, whose names end so. @throws Error if there is none: a test that looks at all files of a folder that
 * was moved would find nothing wrong.
 */
export function filesIn(folder: string, ending: string): readonly string[] {
  const found = readdirSync(new URL(`${folder}/`, root), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith(ending))
    .toSorted();
  if (found.length === 0) throw new Error(`${folder} has no file that ends with ${ending}`);
  return found;
}
