/** The script that renews a control plane's certificates, with a kubeadm, a runtime and an end that a test speaks for. */
import { spawnSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { script } from '../../src/templates.ts';

const RENEW = ['controller-manager.conf', 'scheduler.conf', 'front-proxy-client', 'etcd-server'];
const FILES = [
  ...['controller-manager.conf', 'scheduler.conf', 'admin.conf'],
  ...['front-proxy-client', 'etcd/server'].flatMap((name) => [`pki/${name}.crt`, `pki/${name}.key`]),
];

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'kbuild-renew-'));
  for (const name of ['bin', 'job', 'kubernetes/pki/etcd']) mkdirSync(join(folder, name), { recursive: true });
  for (const file of FILES) writeFileSync(join(folder, 'kubernetes', file), 'old');
  writeFileSync(join(folder, 'kubernetes/pki/ca.key'), 'key');
  // kubeadm renews all in the copy.
  program('unshare', `cd ${folder}/work && for file in ${FILES.join(' ')}; do echo new >"$file"; done`);
  program('kubectl', '');
  program('sync', '');
  program('openssl', '');
  program('mv', `for last; do :; done; echo "place \${last#${folder}/kubernetes/}" >>${folder}/log; exec /bin/mv "$@"`);
});
afterEach(() => rmSync(folder, { recursive: true }));

const program = (name: string, text: string): void => {
  writeFileSync(join(folder, 'bin', name), `#!/bin/sh\n${text}\n`);
  chmodSync(join(folder, 'bin', name), 0o755);
};

/** Renews; a component's container is `old-NAME`. `signal`: what happens when the first one is ended. */
function renewed(restarted: readonly string[], signal = '', renew: readonly string[] = RENEW) {
  const { script: text } = script('linux/renew-certificates.sh', {
    RENEW: renew,
    HOW: 'as-it-was',
    KEYS: ['ca.key'],
    WORK: join(folder, 'work'),
    RESTARTED: restarted,
    SERVED: [],
  });
  const functions = `await() { :; }
runtime_running() { echo "old-$1"; }
runtime_signal() { echo "end $2" >>${folder}/log; ${signal} }`;
  const { status, stderr } = spawnSync(
    'sh',
    ['-eu', '-c', `${functions}\n${text.replace('kubernetes=/etc/kubernetes', `kubernetes=${folder}/kubernetes`)}`],
    {
      cwd: join(folder, 'job'),
      encoding: 'utf8',
      env: { PATH: `${folder}/bin:${process.env['PATH'] ?? ''}` },
    },
  );
  return { status, stderr, log: readFileSync(join(folder, 'log'), 'utf8').trim().split('\n') };
}

test('each file that a component reads only at its start comes last, right before that component ends', () => {
  const { status, stderr, log } = renewed(['kube-controller-manager', 'kube-scheduler']);
  expect(status, stderr).toBe(0);
  expect(log).toEqual([
    'place pki/front-proxy-client.key',
    'place pki/front-proxy-client.crt',
    'place pki/etcd/server.key',
    'place pki/etcd/server.crt',
    'place controller-manager.conf',
    'end old-kube-controller-manager',
    'place scheduler.conf',
    'end old-kube-scheduler',
  ]);
  expect(existsSync(join(folder, 'work'))).toBe(false);
});

test('a job that is killed at the first component leaves the next one’s certificate as it was, so that it is still due', () => {
  const { status } = renewed(['kube-controller-manager', 'kube-scheduler'], 'kill -KILL $$;');
  expect(status).toBe(null);
  expect(readFileSync(join(folder, 'kubernetes/controller-manager.conf'), 'utf8')).toBe('new\n');
  expect(readFileSync(join(folder, 'kubernetes/scheduler.conf'), 'utf8')).toBe('old');
});

test('kube-vip’s admin.conf comes last, too', () => {
  const { log } = renewed(['kube-vip'], '', ['admin.conf', 'front-proxy-client']);
  expect(log.slice(-2)).toEqual(['place admin.conf', 'end old-kube-vip']);
});
