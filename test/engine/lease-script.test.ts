// @module-tag linux
import { spawnSync } from 'node:child_process';
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { script } from '../../src/templates.ts';

let folder = '';
const at = (name: string): string => join(folder, name);
const state = (): string => (existsSync(at('lease')) ? readFileSync(at('lease'), 'utf8').trim() : '');

/** An API server with one Lease, `VERSION HOLDER`: each write makes a new version, and an old one is a conflict. */
const KUBECTL = `#!/bin/sh
lease=FOLDER/lease
for verb; do case $verb in get | create | replace | delete) break ;; esac; done
case $verb in
  get) cat $lease 2>/dev/null || : ;;
  delete) rm $lease ;;
  *)
    body=$(cat)
    version=$(echo "$body" | sed -n 's/.*"resourceVersion":"\\([0-9]*\\)".*/\\1/p')
    found=$(cut -d' ' -f1 $lease 2>/dev/null)
    if [ "$version" != "$found" ]; then echo 'Conflict' >&2; exit 1; fi
    echo "$((\${found:-0} + 1)) $(echo "$body" | sed 's/.*"holderIdentity":"\\([^"]*\\)".*/\\1/')" >$lease ;;
esac
`;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'kbuild-lease-'));
  writeFileSync(at('kubectl'), KUBECTL.replace('FOLDER', folder));
  chmodSync(at('kubectl'), 0o755);
});
afterEach(() => rmSync(folder, { recursive: true }));

function lease(action: 'take' | 'free' | 'show' | 'force', holder: string, stale = ''): string {
  const { script: text } = script('engine/lease.sh', {
    ACTION: action,
    ADMIN: '/none',
    SERVER: 'https://10.0.0.1:6443',
    HOLDER: holder,
    QUOTED: JSON.stringify(holder),
    SECONDS_HELD: 45,
    STALE: stale,
  });
  const { stdout, stderr, status } = spawnSync('/bin/sh', ['-s'], {
    input: `set -eu\n${text.replaceAll('/run/kbuild/', `${folder}/`)}`,
    env: { PATH: `${folder}:${process.env['PATH']!}` },
    encoding: 'utf8',
  });
  expect(status, stderr).toBe(0);
  return stdout.trim();
}

test('a run takes it, renews it under a new version, and frees its own alone', () => {
  expect(lease('take', 'by a')).toBe('locked');
  expect(lease('take', 'by a')).toBe('locked');
  expect(state()).toBe('2 by a');
  expect(lease('show', '')).toBe('held by a');
  lease('free', 'by b');
  expect(state()).toBe('2 by a');
  lease('free', 'by a');
  expect(state()).toBe('');
});

test('another run reads the holder and the version, and replaces that version alone', () => {
  lease('take', 'by a');
  expect(lease('take', 'by b')).toBe('held 1 by a');
  lease('take', 'by a');
  expect(lease('take', 'by b', '1')).toBe('held 2 by a');
  expect(lease('take', 'by b', '2')).toBe('locked');
  expect(state()).toBe('3 by b');
  expect(lease('take', 'by a')).toBe('held 3 by b');
});

test('unlock --force frees that of any run', () => {
  lease('take', 'by a');
  lease('force', '');
  expect(lease('show', '')).toBe('');
});
