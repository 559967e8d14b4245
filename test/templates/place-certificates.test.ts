/** The script that puts certificates of a signing command in their places, with a kubectl and a runtime that a test speaks for. */
import { spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { script } from '../../src/templates.ts';

const CONFS = ['admin.conf', 'controller-manager.conf', 'scheduler.conf'];
const PAIRS = ['apiserver', 'etcd/server'];

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'kbuild-place-'));
  for (const name of ['bin', 'job', 'kubernetes/pki/etcd', 'work/pki/etcd'])
    mkdirSync(join(folder, name), { recursive: true });
  for (const file of [...CONFS, ...PAIRS.flatMap((name) => [`pki/${name}.crt`, `pki/${name}.key`])])
    writeFileSync(join(folder, 'kubernetes', file), 'old');
  for (const conf of CONFS) {
    writeFileSync(join(folder, 'work', conf), 'new');
    writeFileSync(join(folder, 'job', `signed_${conf}`), 'new');
  }
  for (const pair of PAIRS) {
    writeFileSync(join(folder, 'work/pki', `${pair}.key`), 'new');
    writeFileSync(join(folder, 'job', `signed_${pair.replace('/', '-')}`), 'new');
  }
  program('kubectl', 'echo user');
  program('sync', '');
  program('mv', `for last; do :; done; echo "place \${last#${folder}/kubernetes/}" >>${folder}/log; exec /bin/mv "$@"`);
});
afterEach(() => rmSync(folder, { recursive: true }));

const program = (name: string, text: string): void => {
  writeFileSync(join(folder, 'bin', name), `#!/bin/sh\n${text}\n`);
  chmodSync(join(folder, 'bin', name), 0o755);
};

/** Places; a component's container is `old-NAME`. `signal`: what happens when one is ended. */
function placed(restarted: readonly string[], signal = '') {
  const { script: text } = script('linux/place-certificates.sh', {
    WORK: join(folder, 'work'),
    NODE: 'cp1',
    CLUSTER: 'demo',
    KUBELET_SERVER: 'https://10.0.0.11:6443',
    RESTARTED: restarted,
  });
  const functions = `runtime_containers() { echo "old-$1"; }
runtime_signal() { echo "end $2" >>${folder}/log; ${signal} }`;
  const { status, stderr } = spawnSync(
    'sh',
    ['-eu', '-c', `${functions}\n${text.replaceAll('/etc/kubernetes', `${folder}/kubernetes`)}`],
    {
      cwd: join(folder, 'job'),
      encoding: 'utf8',
      env: { PATH: `${folder}/bin:${process.env['PATH'] ?? ''}` },
    },
  );
  return { status, stderr, log: readFileSync(join(folder, 'log'), 'utf8').trim().split('\n') };
}

test('what reads a kubeconfig only at its start ends right after its file is in its place', () => {
  const { status, stderr, log } = placed(['kube-controller-manager', 'kube-scheduler']);
  expect(status, stderr).toBe(0);
  expect(log).toEqual([
    'place admin.conf',
    'place pki/apiserver.key',
    'place pki/apiserver.crt',
    'place controller-manager.conf',
    'end old-kube-controller-manager',
    'place pki/etcd/server.key',
    'place pki/etcd/server.crt',
    'place scheduler.conf',
    'end old-kube-scheduler',
  ]);
});

test('a job that is killed at the first component leaves the next one’s certificate as it was, so that it is still due', () => {
  expect(placed(['kube-controller-manager', 'kube-scheduler'], 'kill -KILL $$;').status).toBe(null);
  expect(readFileSync(join(folder, 'kubernetes/controller-manager.conf'), 'utf8')).toBe('new');
  expect(readFileSync(join(folder, 'kubernetes/scheduler.conf'), 'utf8')).toBe('old');
});

test('on a new host nothing ends', () => {
  expect(placed([]).log.filter((line) => line.startsWith('end'))).toEqual([]);
});
