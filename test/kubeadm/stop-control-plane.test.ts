// @module-tag linux
import { spawnSync } from 'node:child_process';
import { chmodSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { linuxHosts } from '../../src/inventory/hosts.ts';
import { putControlPlaneAside } from '../../src/kubeadm/run-kubeadm.step.ts';
import { inventory } from '../fakes/inventory.ts';
import { requireProgram } from '../needs/table.ts';

let bin = '';
const tool = (name: string, text: string): void => {
  writeFileSync(join(bin, name), `#!/bin/sh\n${text}\n`);
  chmodSync(join(bin, name), 0o755);
};
beforeEach(() => {
  bin = mkdtempSync(join(tmpdir(), 'kbuild-stop-'));
  // Nothing but these: no container and no manifest of this machine is touched.
  for (const name of ['sh', 'awk', 'cat']) symlinkSync(requireProgram(name), join(bin, name));
  for (const name of ['mkdir', 'mv', 'rm']) tool(name, 'exit 0');
  tool('sleep', `echo x >>${bin}/waits`);
  tool('systemctl', 'exit 0');
});
afterEach(() => rmSync(bin, { recursive: true }));

const stop = () =>
  spawnSync('/bin/sh', ['-eu'], {
    input: putControlPlaneAside(inventory(), linuxHosts(inventory())[0]!).script,
    env: { PATH: bin },
    encoding: 'utf8',
  });
const waits = (): number => readFileSync(join(bin, 'waits'), 'utf8').length / 2;

describe.each(['ctr', 'crictl'])('the control plane, by %s', (client) => {
  test('has stopped when no container of it runs', () => {
    tool('ctr', `case "$*" in *containers*) exit 0 ;; esac; echo 'TASK PID STATUS'`);
    if (client === 'crictl') tool('crictl', 'exit 0');
    expect(stop()).toMatchObject({ status: 0, stderr: '' });
  });

  test('may run while the runtime does not answer: it is waited for, and then the job fails', () => {
    tool('ctr', 'exit 1');
    if (client === 'crictl') tool('crictl', 'exit 1');
    expect(stop()).toMatchObject({ status: 1, stderr: 'the control plane did not stop within 2 minutes\n' });
    expect(waits()).toBe(119);
  });

  test('is that of kube-system: a container of the same name in a pod of a user is not waited for', () => {
    const own = 'case "$*" in *io.kubernetes.pod.namespace*kube-system*) exit 0 ;; esac; echo theirs';
    tool('ctr', `case "$*" in *tasks*) echo 'theirs 1 RUNNING'; exit ;; esac; ${own}`);
    if (client === 'crictl') tool('crictl', own);
    expect(stop()).toMatchObject({ status: 0 });
  });

  test('whose kubelet removes no pod is ended without it, and the kubelet runs again', () => {
    // Static pods of a kubelet that has not reached an API since it started: they run until they are sent a signal.
    const list = `if [ -e ${bin}/ended ]; then exit 0; fi; echo own`;
    const tasks = `if [ -e ${bin}/ended ]; then exit 0; fi; echo 'own 1 RUNNING'`;
    tool('ctr', `case "$*" in *kill*) : >${bin}/ended ;; *tasks*) ${tasks} ;; *) ${list} ;; esac`);
    if (client === 'crictl') tool('crictl', list);
    tool('systemctl', `echo "$*" >>${bin}/units`);
    expect(stop()).toMatchObject({ status: 0 });
    expect(readFileSync(join(bin, 'units'), 'utf8').split('\n').slice(-3)).toEqual([
      'stop kubelet',
      'start kubelet',
      '',
    ]);
  });
});
