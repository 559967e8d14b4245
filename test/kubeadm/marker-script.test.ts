// @module-tag linux
import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { runsKubeadm } from '../../src/kubeadm/upgrade-job.ts';
import { script } from '../../src/templates.ts';

/** Runs the job of kubeadm with programs that end as they are told; returns its status and what the marker says. */
function job(
  action: 'init' | 'join',
  ends: { readonly kubeadm: number; readonly kubectl: number },
  files: Readonly<Record<string, string>> = {},
) {
  const folder = mkdtempSync(join(tmpdir(), 'kbuild-test-'));
  const marker = join(folder, 'state', 'marker.json');
  const seen = join(folder, 'seen');
  mkdirSync(join(folder, 'bin'));
  for (const [name, status] of Object.entries(ends)) {
    const path = join(folder, 'bin', name);
    writeFileSync(
      path,
      `#!/bin/sh\necho "${name} $(cat ${marker})" >>${seen}\ncat >/dev/null 2>&1 </dev/null\nexit ${String(status)}\n`,
    );
    chmodSync(path, 0o755);
  }
  const kubeadm = script('kubeadm/kubeadm-init-join.sh', {
    ACTION: action,
    CLUSTER: 'prod',
    MARKER: marker,
    SERVER: 'https://10.0.0.11:6443',
    HTTP_PROXY_URL: '',
    HTTPS_PROXY_URL: '',
    NO_PROXY_LIST: '',
    SETTINGS: '{}',
    MANAGER: 'kbuild',
    PLACE: '',
    DATA: '',
    ABOUT: '',
    IGNORED: '',
    PATCHES: join(folder, 'own-patches'),
    JOB_PATCHES: 'patches',
  });
  for (const [name, content] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), content);
  }
  const { script: text } = runsKubeadm(kubeadm);
  const { status } = spawnSync('/bin/sh', ['-eu', '-c', text], {
    cwd: folder,
    env: { PATH: `${join(folder, 'bin')}:${process.env['PATH'] ?? ''}` },
  });
  const stage = (line: string) => /"stage":"(\w+)"/.exec(line)?.[1];
  const patches = join(folder, 'patches');
  return {
    status,
    patches: existsSync(patches) ? readdirSync(patches).toSorted() : 'none',
    left: existsSync(marker) ? stage(readFileSync(marker, 'utf8')) : 'none',
    seen: readFileSync(seen, 'utf8')
      .trim()
      .split('\n')
      .map((line) => `${line.split(' ')[0]!} ${stage(line) ?? ''}`),
  };
}

describe('the marker of a kubeadm job', () => {
  test('says begun while kubeadm works, done as soon as it has succeeded, and goes at the end', () => {
    expect(job('init', { kubeadm: 0, kubectl: 0 })).toEqual({
      status: 0,
      patches: 'none',
      left: 'none',
      seen: ['kubeadm begun', 'kubectl done', 'kubectl done'],
    });
    expect(job('join', { kubeadm: 0, kubectl: 0 })).toEqual({
      status: 0,
      patches: 'none',
      left: 'none',
      seen: ['kubeadm begun'],
    });
  });

  test('says done when a command after kubeadm fails, because the API is down for a moment', () => {
    expect(job('init', { kubeadm: 0, kubectl: 1 })).toMatchObject({ status: 1, left: 'done' });
  });

  test('says begun when kubeadm fails', () => {
    expect(job('init', { kubeadm: 1, kubectl: 0 })).toMatchObject({ status: 1, left: 'begun' });
  });
});

describe('the patches of a kubeadm job', () => {
  const ends = { kubeadm: 0, kubectl: 0 };
  const own = { 'patch_kube-schedulerzz+json.json': '[]', 'patch_kube-apiserverzz+json.json': '[]' };

  test('are beside those of the host, in a folder of the job', () => {
    const host = { 'own-patches/kube-apiserver0+merge.yaml': '{}' };
    expect(job('join', ends, { ...host, ...own }).patches).toEqual([
      'kube-apiserver0+merge.yaml',
      'kube-apiserverzz+json.json',
      'kube-schedulerzz+json.json',
    ]);
  });

  test('need none of the host', () => {
    expect(job('join', ends, own).patches).toEqual(['kube-apiserverzz+json.json', 'kube-schedulerzz+json.json']);
  });

  test('are those of the host alone where the job has none', () => {
    expect(job('join', ends, { 'own-patches/kube-apiserver0+merge.yaml': '{}' }).patches).toBe('none');
  });
});

test('a file is older than the marker as the shell of hosts compares them', () => {
  const folder = mkdtempSync(join(tmpdir(), 'kbuild-test-'));
  const [older, marker] = [join(folder, 'older'), join(folder, 'marker')];
  writeFileSync(older, '');
  writeFileSync(marker, '');
  utimesSync(older, 1_700_000_000, 1_700_000_000);
  const says = (one: string, other: string) => spawnSync('/bin/sh', ['-c', `[ "${one}" -ot "${other}" ]`]).status;
  expect([says(older, marker), says(marker, older), says(marker, marker)]).toEqual([0, 1, 1]);
});
