// @module-tag linux
/** Jobs run kubeadm again only while its preflight checks, which change nothing, found a runtime that was late and nothing else. */
import { spawnSync } from 'node:child_process';
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { runsKubeadm } from '../../src/kubeadm/upgrade-job.ts';
import { shClock } from '../fakes/sh-clock.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'kbuild-kubeadm-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

// As kubeadm 1.36.3 printed it in the lab, and as its checks.go and runtime.go word the other one.
const LATE =
  '\t[ERROR CRI]: could not connect to the container runtime: failed to create new CRI runtime service: validate service connection: validate CRI v1 runtime API for endpoint "unix:///run/containerd/containerd.sock": rpc error: code = DeadlineExceeded desc = context deadline exceeded';
const LATE_STATUS =
  '\t[ERROR CRI]: container runtime is not running: rpc error: code = DeadlineExceeded desc = context deadline exceeded';
const LATE_IMAGES = LATE.replace('ERROR CRI', 'ERROR ImagePull').replaceAll('runtime service', 'image service');
const DOWN = LATE.replace(/rpc error.*/, 'rpc error: code = Unavailable desc = connection error: connection refused');
const PULL =
  '\t[ERROR ImagePull]: failed to pull image registry.k8s.io/pause:3.10.1: rpc error: code = DeadlineExceeded desc = context deadline exceeded';
const PORT = '\t[ERROR Port-10250]: Port 10250 is in use';
const failed = (...errors: string[]) =>
  ['[preflight] Some fatal errors occurred:', ...errors, 'error: error execution phase preflight'].join('\n');

/** Runs a kubeadm that ends each time with the next of these words on stderr and status 1, and at last well. */
function runs(...ends: string[]) {
  ends.forEach((text, number) => writeFileSync(join(folder, `end-${String(number + 1)}`), `${text}\n`));
  const kubeadm = join(folder, 'kubeadm');
  writeFileSync(
    kubeadm,
    `#!/bin/sh
echo "$*" >>asked
end=end-$(wc -l <asked)
if [ ! -e $end ]; then echo joined; exit 0; fi
cat $end >&2
exit 1
`,
  );
  chmodSync(kubeadm, 0o755);
  const job = runsKubeadm({ shell: 'sh', script: 'run_kubeadm join --config x; echo after', title: 'a job' });
  const ran = spawnSync('sh', ['-eu', '-c', shClock(folder).inScript(job.script)], {
    cwd: folder,
    encoding: 'utf8',
    env: { ...process.env, PATH: `${folder}:${process.env['PATH'] ?? ''}` },
  });
  return { ...ran, asked: readFileSync(join(folder, 'asked'), 'utf8').trim().split('\n') };
}

test.each([
  ['that did not answer when kubeadm connected', [LATE]],
  ['that did not say its status', [LATE_STATUS]],
  ['that did not answer any of the checks', [LATE, LATE_IMAGES]],
])('a runtime %s is asked again', (_, errors) => {
  const { status, stdout, stderr, asked } = runs(failed(...errors), failed(...errors));
  expect({ status, stderr, asked }).toEqual({ status: 0, stderr: '', asked: Array(3).fill('join --config x') });
  expect(stdout).toMatch(
    /^(?:waiting: the container runtime does not answer within 2 s \(\d+ s of at most 120 s\)\n){2}joined\nafter\n$/,
  );
});

test.each([
  ['a runtime that does not run', failed(DOWN)],
  ['an image that could not be pulled', failed(PULL)],
  ['another check that failed too', failed(LATE, PORT)],
  [
    'a phase after the checks',
    'error: error execution phase kubelet-start: context deadline exceeded: DeadlineExceeded',
  ],
])('%s ends the job, with what kubeadm said', (_, said) => {
  expect(runs(said)).toMatchObject({ status: 1, stderr: `${said}\n`, stdout: '', asked: ['join --config x'] });
});
