// @module-tag linux
/** The script that leads a kubelet to another endpoint, with a kubectl, a systemctl and a clock that a test speaks for. */
import { spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { script } from '../../src/templates.ts';

const OLD = 'https://10.0.0.11:6443';
const NEW = 'https://k8s.example.com:6443';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'kbuild-lead-'));
  for (const name of ['bin', 'kubernetes', 'job']) mkdirSync(join(folder, name));
});
afterEach(() => rmSync(folder, { recursive: true }));

const program = (name: string, text: string): void => {
  writeFileSync(join(folder, 'bin', name), `#!/bin/sh\n${text}\n`);
  chmodSync(join(folder, 'bin', name), 0o755);
};

/** Leads a kubelet whose kubeconfig leads to `server`; it never reports. A kubeconfig of these tests is its server alone. */
function led(server: string) {
  const conf = join(folder, 'kubernetes/kubelet.conf');
  writeFileSync(conf, server);
  program(
    'kubectl',
    `case "$*" in
  *'get lease'*) echo "dial tcp: i/o timeout" >&2; exit 1 ;;
  *'.cluster.server}'*) cat old.conf ;;
  *'.clusters[*].name}'*) echo prod ;;
  *set-cluster*) while [ "$1" != --server ]; do shift; done; printf %s "$2" >new.conf ;;
esac`,
  );
  program('systemctl', `echo "$*" >>${folder}/asked`);
  program('install', 'while [ "$1" != -- ]; do shift; done; cp "$2" "$3"');
  program('sync', '');
  program('sleep', '');
  program('date', `n=$(cat ${folder}/now 2>/dev/null || echo 0); echo $((n + 60)) >${folder}/now; echo "$n"`);
  const { script: text } = script('kubeadm/lead-kubeconfigs.sh', {
    SERVER: NEW,
    CONFS: ['kubelet.conf'],
    KUBELET: 'yes',
    NODE: 'w1',
    PODS: [],
  });
  const { status, stderr } = spawnSync('sh', ['-eu', '-c', text.replace('/etc/kubernetes', `${folder}/kubernetes`)], {
    cwd: join(folder, 'job'),
    encoding: 'utf8',
    env: { PATH: `${folder}/bin:${process.env['PATH'] ?? ''}` },
  });
  const restarts = readFileSync(join(folder, 'asked'), 'utf8').trim().split('\n').length;
  return { status, said: stderr.trim(), conf: readFileSync(conf, 'utf8'), restarts };
}

const NOT_REPORTED = `the kubelet of w1 did not report through ${NEW} within 120 s (dial tcp: i/o timeout)`;

test('a kubelet that does not report through the new endpoint gets its former kubeconfig back', () => {
  const said = `${NOT_REPORTED}, and has its former kubeconfig again`;
  expect(led(OLD)).toEqual({ status: 1, said, conf: OLD, restarts: 2 });
});

test('where a run that was cut off has led it there, the message does not say that the former kubeconfig is back', () => {
  const said = `${NOT_REPORTED}. A run that was cut off has led its kubeconfig there, so kbuild cannot put the former one back: make ${NEW} reachable from w1, then run the same command again`;
  expect(led(NEW)).toEqual({ status: 1, said, conf: NEW, restarts: 1 });
});
