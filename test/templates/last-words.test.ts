// @module-tag linux
import { spawnSync } from 'node:child_process';
import { chmodSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { script, using } from '../../src/templates.ts';
import { requireProgram } from '../needs/table.ts';

let bin = '';
beforeEach(() => {
  bin = mkdtempSync(join(tmpdir(), 'kbuild-last-words-'));
  for (const name of ['sh', 'awk', 'tail', 'date', 'timeout', 'ls', 'head'])
    symlinkSync(requireProgram(name), join(bin, name));
});
afterEach(() => rmSync(bin, { recursive: true }));

/** The end of a journal with these lines, as `journalctl -o short-iso` prints it. */
function lastWords(...journal: readonly string[]): readonly string[] {
  writeFileSync(join(bin, 'journal'), `${journal.join('\n')}\n`);
  writeFileSync(join(bin, 'journalctl'), `#!/bin/sh\nexec tail -n 100 ${bin}/journal\n`);
  chmodSync(join(bin, 'journalctl'), 0o755);
  const command = using(
    script('session/avc-denials.sh', { AGE: '60' }),
    script('session/last-words.sh', { LINES: '3' }),
  );
  const { stdout } = spawnSync('/bin/sh', ['-eu'], { input: command.script, env: { PATH: bin }, encoding: 'utf8' });
  return stdout.trimEnd().split('\n');
}

test('the end of a log has the time of each line, and a message that is repeated once (D20)', () => {
  const at = (time: string, text: string): string => `2026-11-24T${time}+0000 ${text}`;
  expect(
    lastWords(
      at('23:47:29', 'systemd[1]: Started kubelet.service.'),
      at('23:47:29', 'kubelet[1493]: E1124 23:47:29.931141    1493 run.go:72] "command failed" err="no such file"'),
      at('23:47:39', 'systemd[1]: Started kubelet.service.'),
      at('23:47:40', 'kubelet[1754]: E1124 23:47:40.245819    1754 run.go:72] "command failed" err="no such file"'),
      at('23:47:41', 'kubelet[1754]: container 0a1b2c3d4e5f ended'),
      at('23:47:42', 'kubelet[1754]: container 1a1b2c3d4e5f ended'),
    ),
  ).toEqual([
    '== kubelet',
    '23:47:29 Started kubelet.service.',
    '23:47:29 E run.go:72] "command failed" err="no such file"',
    '23:47:41 container 0a1b2c3d4e5f ended',
  ]);
});
