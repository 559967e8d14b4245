// @module-tag linux
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { sh } from '../../src/shell/sh.ts';
import { using } from '../../src/templates.ts';

let folder = '';
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'kbuild-serving-runtime-'));
  mkdirSync(join(folder, 'var/lib/kubelet'), { recursive: true });
});
afterEach(() => rmSync(folder, { recursive: true }));

const put = (name: string, text: string): void => writeFileSync(join(folder, 'var/lib/kubelet', name), text);
function found(): readonly string[] {
  const { script } = using('runtime/serving-runtime.sh', sh`echo "$runtime_given"; echo "$runtime_serving"`);
  const text = script.replaceAll('/var/lib/kubelet/', `${folder}/var/lib/kubelet/`);
  return execFileSync('/bin/sh', ['-s'], { input: `set -eu\n${text}`, encoding: 'utf8' })
    .split('\n')
    .slice(0, 2);
}

test('a host that has not joined was given no runtime', () => expect(found()).toEqual(['', '']));

test('kubeadm’s file of the host goes before the configuration of the kubelet, and its flag before both', () => {
  put('config.yaml', 'maxPods: 110\ncontainerRuntimeEndpoint: unix:///run/containerd/containerd.sock\n');
  expect(found()).toEqual(['unix:///run/containerd/containerd.sock', '/run/containerd/containerd.sock']);
  put('instance-config.yaml', 'containerRuntimeEndpoint: "unix:///run/crio/crio.sock"\n');
  expect(found()).toEqual(['unix:///run/crio/crio.sock', '/run/crio/crio.sock']);
  put('kubeadm-flags.env', 'KUBELET_KUBEADM_ARGS="--container-runtime-endpoint=unix:///a.sock --node-ip=10.0.0.21"\n');
  expect(found()).toEqual(['unix:///a.sock', '/a.sock']);
});

test('a file that names none leaves it to the next one, and /var/run is /run', () => {
  put('kubeadm-flags.env', 'KUBELET_KUBEADM_ARGS=""\n');
  put('config.yaml', 'containerRuntimeEndpoint: unix:///var/run/crio/crio.sock\n');
  expect(found()).toEqual(['unix:///var/run/crio/crio.sock', '/run/crio/crio.sock']);
  put('config.yaml', 'containerRuntimeEndpoint: unix:///var/lib/other.sock\n');
  expect(found()).toEqual(['unix:///var/lib/other.sock', '/var/lib/other.sock']);
});
