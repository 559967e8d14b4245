import { expect, test } from 'vitest';
import { distributedFiles } from '../../src/host/file.step.ts';
import { filesWith } from '../fakes/files.ts';
import { inventory } from '../fakes/inventory.ts';
import { recordingOn } from '../fakes/on.ts';
import { target } from '../fakes/target.ts';

const greeting = { hosts: ['cp1'], path: '/etc/greeting', content: 'hello\n', mode: 0o644 };
const wanted = inventory({ files: [greeting] });
const summaries = (...about: Parameters<typeof target>): readonly string[] =>
  distributedFiles.diff(target(...about)).map(({ summary }) => summary);

test('a file of the inventory is written', () => {
  const facts = { files: filesWith({}), distributedFiles: [] };
  expect(summaries(facts, { inventory: wanted })).toEqual(['write /etc/greeting (found none)']);
});

test('it is noted first, so that a crash in between loses nothing', async () => {
  const { on, sent } = recordingOn();
  const facts = { files: filesWith({}), distributedFiles: [] };
  await distributedFiles.diff(target(facts, { inventory: wanted }))[0]!.apply!(on);
  expect(sent.map((one) => one.kind)).toEqual(['run', 'write']);
});

test('a file that the inventory no longer names is taken back', () => {
  const facts = { files: filesWith({}), distributedFiles: ['/etc/greeting'] };
  expect(summaries(facts, { inventory: inventory({}) })).toEqual([
    'take back /etc/greeting (not in the inventory any more)',
  ]);
});

test('a file that the inventory never distributed is left alone', () => {
  expect(summaries({ distributedFiles: [] }, { inventory: inventory({}) })).toEqual([]);
});
