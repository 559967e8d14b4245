// @module-tag linux
import { spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
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
    script('session/last-words.sh', { LINES: '3', PODS: join(bin, 'pods') }),
  );
  const { stdout } = spawnSync('/bin/sh', ['-eu'], {
    input: command.script,
    env: { PATH: bin, TZ: 'UTC' },
    encoding: 'utf8',
  });
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

test('kube-proxy goes on after an error: its errors of this run are shown once each, without the rest of its log', () => {
  const folder = join(bin, 'pods', 'kube-system_kube-proxy-x_1', 'kube-proxy');
  mkdirSync(folder, { recursive: true });
  const at = (secondsAgo: number, text: string): string => {
    const time = new Date(Date.now() - secondsAgo * 1000).toISOString().replace('Z', '000000Z');
    return `${time} stderr F ${text}`;
  };
  const lines = [
    at(4000, 'E1128 09:00:00.000000       1 proxier.go:1 "an error of another run"'),
    at(30, 'I1128 10:35:32.207997       1 proxier.go:1099] "Sync failed" retryingTime="30s"'),
    at(30, 'E1128 10:35:32.207741       1 proxier.go:1723] "nftables sync failed" err="signal: segmentation fault"'),
    at(1, 'E1128 10:36:02.255909       1 proxier.go:1723] "nftables sync failed" err="signal: segmentation fault"'),
  ];
  writeFileSync(join(folder, '0.log'), `${lines.join('\n')}\n`);
  expect(lastWords().filter((line) => !line.startsWith('== kubelet') && line !== '')).toEqual([
    '== kube-proxy',
    expect.stringMatching(/^[\d:]{8} E proxier\.go:1723\] "nftables sync failed" err="signal: segmentation fault"$/),
  ]);
});
