import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { declarations } from '../../declarations.config.ts';

test('an export without a written type is named with its file and line, wherever the library reaches it', () => {
  const folder = mkdtempSync(join(tmpdir(), 'kbuild-declarations-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const write = (name: string, text: string) => writeFileSync(join(folder, name), text);
  write('library.ts', "export type { A } from './a.ts';\n\nexport const b = [...[2]];\n");
  write('a.ts', 'export type A = string;\nexport const c = [...[1]];\n');
  write('unreached.ts', 'export const d = [...[1]];\n');
  expect(() => declarations(folder, 'library.ts')).toThrow(
    new RegExp(`^${folder}/library\\.ts:3: .*\n${folder}/a\\.ts:2: .*$`),
  );
});
