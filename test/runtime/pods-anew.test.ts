// @module-tag linux
import { spawnSync } from 'node:child_process';
import { chmodSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { script, using } from '../../src/templates.ts';
import { requireProgram } from '../needs/table.ts';

let folder = '';
const at = (name: string): string => join(folder, name);
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'kbuild-pods-anew-'));
  for (const name of ['sh', 'grep', 'cat', 'rm', 'tr']) symlinkSync(requireProgram(name), at(name));
  writeFileSync(at('systemctl'), `#!/bin/sh\necho "$*" >>${at('did')}\n`);
  writeFileSync(at('sleep'), '#!/bin/sh\n');
  for (const name of ['systemctl', 'sleep']) chmodSync(at(name), 0o755);
  writeFileSync(at('did'), '');
  writeFileSync(at('config.yaml'), 'apiVersion: v1\ncgroupDriver: cgroupfs\n');
});
afterEach(() => rmSync(folder, { recursive: true }));

/** A runtime whose containers end with one of these signals. */
const runtime = (endsWith: string): string => `
runtime_kept() { cat ${at('kept')} 2>/dev/null || true; }
runtime_signal() { echo "$1 $2" >>${at('did')}; case ${endsWith} in "$1") rm -f ${at('kept')} ;; esac; }
runtime_end_sandboxes() { echo sandboxes >>${at('did')}; }
`;

function run(endsWith: string, driver = 'cgroupfs') {
  const command = script('runtime/pods-anew.sh', { CONFIG: at('config.yaml'), DRIVER: driver });
  const { script: text } = using({ shell: 'sh', script: runtime(endsWith), title: 'runtime' }, command);
  const { status, stderr } = spawnSync('/bin/sh', ['-s'], {
    input: `set -eu\n${text}`,
    env: { PATH: folder },
    encoding: 'utf8',
  });
  return { status, stderr, did: readFileSync(at('did'), 'utf8').trim().split('\n').filter(Boolean) };
}

describe('start all pods of a host anew', () => {
  test('the kubelet stops, containers end, their sandboxes end, and the kubelet starts', () => {
    writeFileSync(at('kept'), 'a\n');
    expect(run('SIGTERM')).toEqual({
      status: 0,
      stderr: '',
      did: ['stop kubelet', 'SIGTERM a', 'sandboxes', 'start kubelet'],
    });
  });

  test('what does not end in time is killed', () => {
    writeFileSync(at('kept'), 'a\n');
    expect(run('KILL').did).toEqual(['stop kubelet', 'SIGTERM a', 'KILL a', 'sandboxes', 'start kubelet']);
  });

  test('what never ends is named, and the kubelet starts again', () => {
    writeFileSync(at('kept'), 'a\nb\n');
    const { status, stderr, did } = run('nothing');
    expect({ status, stderr, last: did.at(-1) }).toEqual({
      status: 1,
      stderr: 'containers of Kubernetes still run: a b \n',
      last: 'start kubelet',
    });
    expect(did).not.toContain('sandboxes');
  });

  test.each(['systemd', 'cgroup'])('a configuration without the driver %s stops nothing', (driver) => {
    const { status, stderr, did } = run('SIGTERM', driver);
    expect({ status, did }).toEqual({ status: 1, did: [] });
    expect(stderr).toContain(`does not name the cgroup driver ${driver}`);
  });

  test.each(['"cgroupfs"', "'cgroupfs'", 'cgroupfs '])('the driver may be written as %s', (value) => {
    writeFileSync(at('config.yaml'), `cgroupDriver: ${value}\n`);
    expect(run('SIGTERM').status).toBe(0);
  });
});
