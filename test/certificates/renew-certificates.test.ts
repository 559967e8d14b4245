// @module-tag linux
/** The script that renews a control plane's certificates, with a kubeadm, a runtime and an end that a test speaks for. */
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { script } from '../../src/templates.ts';
import { placed, placesIn, program, withoutWaiting } from './placing.ts';

const RENEW = ['controller-manager.conf', 'scheduler.conf', 'front-proxy-client', 'etcd-server'];
const FILES = [
  ...['controller-manager.conf', 'scheduler.conf', 'admin.conf'],
  ...['front-proxy-client', 'etcd/server'].flatMap((name) => [`pki/${name}.crt`, `pki/${name}.key`]),
];

let folder: string;
beforeEach(() => {
  folder = placesIn(FILES);
  writeFileSync(join(folder, 'kubernetes/pki/ca.key'), 'key');
  // kubeadm renews all in the copy.
  program(folder, 'unshare', `cd ${folder}/work && for file in ${FILES.join(' ')}; do echo new >"$file"; done`);
  program(folder, 'kubectl', '');
  program(folder, 'openssl', '');
});
afterEach(() => rmSync(folder, { recursive: true }));

/** Renews. `signal`: what happens when the first component is ended; `running`: prints the container of a component that runs. */
function renewed(
  restarted: readonly string[],
  signal = '',
  { renew = RENEW, running = 'echo "old-$1"' }: { readonly renew?: readonly string[]; readonly running?: string } = {},
) {
  const { script: text } = script('certificates/renew-certificates.sh', {
    RENEW: renew,
    HOW: 'as-it-was',
    KEYS: ['ca.key'],
    WORK: join(folder, 'work'),
    RESTARTED: restarted,
    SERVED: [],
  });
  return placed(folder, withoutWaiting(text), `runtime_running() { ${running}; }`, signal);
}

test('each file that a component reads only at its start comes last, when that component has been told to end', () => {
  const { status, stderr, log } = renewed(['kube-controller-manager', 'kube-scheduler']);
  expect(status, stderr).toBe(0);
  expect(log).toEqual([
    'place pki/front-proxy-client.key',
    'place pki/front-proxy-client.crt',
    'place pki/etcd/server.key',
    'place pki/etcd/server.crt',
    'end old-kube-controller-manager',
    'place controller-manager.conf',
    'end old-kube-scheduler',
    'place scheduler.conf',
  ]);
  expect(existsSync(join(folder, 'work'))).toBe(false);
});

test('a job that is killed when it has ended a component leaves its certificate and the next one’s as they were, so that they are still due', () => {
  const { status } = renewed(['kube-controller-manager', 'kube-scheduler'], 'kill -KILL $$;');
  expect(status).toBe(null);
  expect(readFileSync(join(folder, 'kubernetes/controller-manager.conf'), 'utf8')).toBe('old');
  expect(readFileSync(join(folder, 'kubernetes/scheduler.conf'), 'utf8')).toBe('old');
});

test('kube-vip’s admin.conf comes last, too', () => {
  const { log } = renewed(['kube-vip'], '', { renew: ['admin.conf', 'front-proxy-client'] });
  expect(log.slice(-2)).toEqual(['end old-kube-vip', 'place admin.conf']);
});

test('a component that starts just before its file is in its place ends too', () => {
  const running = `if grep -qs scheduler.conf ${folder}/log; then echo "started-$1"; fi`;
  const { log } = renewed(['kube-scheduler'], '', { renew: ['scheduler.conf'], running });
  expect(log).toEqual(['place scheduler.conf', 'end started-kube-scheduler']);
});

test('a component that starts again before its new file is in its place ends once more', () => {
  const running = `if grep -qs scheduler.conf ${folder}/log; then echo "again-$1"; else echo "old-$1"; fi`;
  const { log } = renewed(['kube-scheduler'], '', { renew: ['scheduler.conf'], running });
  expect(log).toEqual(['end old-kube-scheduler', 'place scheduler.conf', 'end again-kube-scheduler']);
});
