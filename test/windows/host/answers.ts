import { readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { Answer } from './script.ts';

const folder = new URL('answers/', import.meta.url);

/** Every answer, by the name of its script: `windows/lock.ps1`. */
export async function loadAnswers(): Promise<ReadonlyMap<string, Answer>> {
  const names = readdirSync(fileURLToPath(folder)).filter((name) => name.endsWith('.ts'));
  const found = await Promise.all(
    names.map(async (name): Promise<[string, Answer]> => {
      const loaded = (await import(new URL(name, folder).href)) as { readonly answer?: Answer };
      if (loaded.answer === undefined) throw new Error(`answers/${name} exports no "answer"`);
      return [`windows/${name.replace(/\.ts$/, '.ps1')}`, loaded.answer];
    }),
  );
  return new Map(found);
}
