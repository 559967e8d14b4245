// @module-tag linux
/** What the probe of names makes of a resolver that a test speaks for. */
import { spawnSync } from 'node:child_process';
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { lookups } from '../../src/host/names.facts.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'kbuild-lookups-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

/** As getent of the GNU C library: a canonical name on the first line of each name. */
const known = (address: string, name: string): string =>
  [`${address}       STREAM ${name}`, `${address}       DGRAM  `, `${address}       RAW    `].join('\n');

/** What a host says whose `getent ahostsv4 NAME` does this. `calls`: how often it was called. */
function looked(getent: string) {
  const program = (name: string, text: string): void => {
    writeFileSync(join(folder, name), `#!/bin/sh\n${text}`);
    chmodSync(join(folder, name), 0o755);
  };
  program('getent', `echo "$*" >>${folder}/calls\nshift\nfor name; do\n${getent}\ndone\n`);
  // No test waits: a resolver that is silent ends as timeout ends it.
  program('timeout', 'shift\n"$@" || exit $?\n');
  const { command, parse } = lookups(['k8s.example.com']);
  const env = { ...process.env, PATH: `${folder}:${process.env['PATH']!}` };
  const { stdout, stderr, status } = spawnSync('sh', ['-eu', '-c', command.script], { encoding: 'utf8', env });
  expect({ stderr, status }).toEqual({ stderr: '', status: 0 });
  const found = parse(stdout, { middleMs: 0 });
  const calls = readFileSync(join(folder, 'calls'), 'utf8').trim().split('\n');
  return { localhost: found.get('localhost'), endpoint: found.get('k8s.example.com'), own: found.get('own'), calls };
}

const OTHERS = `localhost) printf '%s\\n' '${known('127.0.0.1', 'localhost')}' ;;\n*) printf '%s\\n' '${known('127.0.1.1', 'w1')}' ;;`;

test('names that are all known take one process', () => {
  const endpoint = `${known('10.0.0.12', 'lb.example.com')}\n${known('10.0.0.11', '').replaceAll('STREAM ', 'STREAM')}`;
  const { calls, ...found } = looked(`case $name in k8s.example.com) printf '%s\\n' '${endpoint}' ;;\n${OTHERS} esac`);
  expect(found).toEqual({ own: ['127.0.1.1'], localhost: ['127.0.0.1'], endpoint: ['10.0.0.11', '10.0.0.12'] });
  expect(calls).toHaveLength(1);
});

test('a name that is not known is told from the others, each asked by itself', () => {
  const { calls, ...found } = looked(`case $name in k8s.example.com) exit 2 ;;\n${OTHERS} esac`);
  expect(found).toEqual({ own: ['127.0.1.1'], localhost: ['127.0.0.1'], endpoint: [] });
  expect(calls).toHaveLength(4);
});

test('a resolver that does not answer in time for one name is silent for that name alone', () => {
  const { calls, ...found } = looked(`case $name in k8s.example.com) exit 124 ;;\n${OTHERS} esac`);
  expect(found).toEqual({ own: ['127.0.1.1'], localhost: ['127.0.0.1'], endpoint: 'silent' });
  expect(calls).toHaveLength(4);
});
