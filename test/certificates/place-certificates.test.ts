// @module-tag linux
/** The script that puts certificates of a signing command in their places, with a kubectl and a runtime that a test speaks for. */
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { script } from '../../src/templates.ts';
import { placed, placesIn, program } from './placing.ts';

const CONFS = ['admin.conf', 'controller-manager.conf', 'scheduler.conf'];
const PAIRS = ['apiserver', 'etcd/server'];

let folder: string;
beforeEach(() => {
  folder = placesIn([...CONFS, ...PAIRS.flatMap((name) => [`pki/${name}.crt`, `pki/${name}.key`])]);
  mkdirSync(join(folder, 'work/pki/etcd'), { recursive: true });
  for (const conf of CONFS) {
    writeFileSync(join(folder, 'work', conf), 'new');
    writeFileSync(join(folder, 'job', `signed_${conf}`), 'new');
  }
  for (const pair of PAIRS) {
    writeFileSync(join(folder, 'work/pki', `${pair}.key`), 'new');
    writeFileSync(join(folder, 'job', `signed_${pair.replace('/', '-')}`), 'new');
  }
  program(folder, 'kubectl', 'echo user');
});
afterEach(() => rmSync(folder, { recursive: true }));

/** Places what is signed. `signal`: what happens when a component is ended. */
function signedPlaced(restarted: readonly string[], signal = '', containers = 'echo "old-$1"') {
  const { script: text } = script('certificates/place-certificates.sh', {
    WORK: join(folder, 'work'),
    NODE: 'cp1',
    CLUSTER: 'demo',
    KUBELET_SERVER: 'https://10.0.0.11:6443',
    RESTARTED: restarted,
  });
  return placed(folder, text, `runtime_containers() { ${containers}; }`, signal);
}

test('what reads a kubeconfig only at its start ends right before its file is in its place', () => {
  const { status, stderr, log } = signedPlaced(['kube-controller-manager', 'kube-scheduler']);
  expect(status, stderr).toBe(0);
  expect(log).toEqual([
    'place admin.conf',
    'place pki/apiserver.key',
    'place pki/apiserver.crt',
    'end old-kube-controller-manager',
    'place controller-manager.conf',
    'place pki/etcd/server.key',
    'place pki/etcd/server.crt',
    'end old-kube-scheduler',
    'place scheduler.conf',
  ]);
});

test('a job that is killed when it has ended a component leaves its certificate and the next one’s as they were, so that they are still due', () => {
  expect(signedPlaced(['kube-controller-manager', 'kube-scheduler'], 'kill -KILL $$;').status).toBe(null);
  expect(readFileSync(join(folder, 'kubernetes/controller-manager.conf'), 'utf8')).toBe('old');
  expect(readFileSync(join(folder, 'kubernetes/scheduler.conf'), 'utf8')).toBe('old');
});

test('what starts again before its new file is in its place ends once more', () => {
  const containers = `echo "old-$1"; if grep -qs scheduler.conf ${folder}/log; then echo "again-$1"; fi`;
  const { log } = signedPlaced(['kube-scheduler'], '', containers);
  expect(log.slice(-3)).toEqual(['end old-kube-scheduler', 'place scheduler.conf', 'end again-kube-scheduler']);
});

test('on a new host nothing ends', () => {
  expect(signedPlaced([]).log.filter((line) => line.startsWith('end'))).toEqual([]);
});
