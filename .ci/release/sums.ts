/** `tsx .ci/release/sums.ts FOLDER`: writes SHA256SUMS and Homebrew's formula of the files that stand there. */
import { createHash } from 'node:crypto';
import { createReadStream, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { fileURLToPath } from 'node:url';
import { formula } from './formula.ts';
import type { Described } from './packages.ts';

async function sha256(file: string): Promise<string> {
  const hash = createHash('sha256');
  await pipeline(createReadStream(file), hash);
  return hash.digest('hex');
}

/** Checksums of all files of the folder but those that this writes, and the formula; returns the names. */
export async function writeSums(folder: string): Promise<readonly string[]> {
  const names = readdirSync(folder)
    .filter((name) => !name.startsWith('SHA256SUMS') && name !== 'kbuild.rb')
    .toSorted();
  const sums = new Map<string, string>();
  for (const name of names) sums.set(name, await sha256(join(folder, name)));
  const described = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as Described;
  writeFileSync(join(folder, 'kbuild.rb'), formula(described, sums));
  sums.set('kbuild.rb', await sha256(join(folder, 'kbuild.rb')));
  writeFileSync(join(folder, 'SHA256SUMS'), [...sums].map(([name, sum]) => `${sum}  ${name}\n`).join(''));
  return [...sums.keys()];
}

const [, program = '', folder] = process.argv;
if (resolve(program) === fileURLToPath(import.meta.url)) {
  if (folder === undefined) throw new Error('usage: tsx .ci/release/sums.ts FOLDER');
  await writeSums(resolve(folder));
}
