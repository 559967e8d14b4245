// @module-tag linux
/** The job of kubeadm's upgrade, with a kubeadm and a kubectl that a test speaks for. */
import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { runsKubeadm } from '../../src/kubeadm/upgrade-job.ts';
import { script } from '../../src/templates.ts';
import { shClock } from '../fakes/sh-clock.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'kbuild-upgrade-'));
  for (const name of ['kubernetes/manifests', 'kubelet']) mkdirSync(join(folder, name), { recursive: true });
  writeFileSync(join(kubernetes(), 'manifests/etcd.yaml'), 'old');
});
afterEach(() => rmSync(folder, { recursive: true }));

interface Upgrade {
  /** The scheduler answers when it was asked more often than this. */
  readonly schedulerAfter: number;
  /** An upgrade that began an hour ago has left its marker. */
  readonly cutOff: boolean;
  /** What kubeadm does, besides noting that it was called. */
  readonly kubeadm?: string;
  /** The path at which a component is asked that does not answer; a minute of waiting then passes at once. */
  readonly dead?: string;
  /** kubeadm's command; default: node. */
  readonly how?: 'apply' | 'node';
}

/** kubeadm's folder, which only kubeadm changes here. */
const kubernetes = (): string => join(folder, 'kubernetes');
/** kubeadm's folder of backups. */
const backups = (): string => join(kubernetes(), 'tmp');

/** Upgrades a control plane. */
function upgraded({ schedulerAfter, cutOff, kubeadm = '', dead = 'none', how = 'node' }: Upgrade) {
  const program = (name: string, text: string): string => {
    const path = join(folder, name);
    writeFileSync(path, `#!/bin/sh\n${text}\n`);
    chmodSync(path, 0o755);
    return path;
  };
  const asked = join(folder, 'asked');
  const marker = join(folder, 'marker.json');
  if (cutOff) {
    const anHourAgo = new Date(Date.now() - 60 * 60_000);
    writeFileSync(marker, '{}');
    utimesSync(marker, anHourAgo, anHourAgo);
  }
  program('kubeadm', `echo "kubeadm $*" >>${asked}\n${kubeadm}`);
  const kubectl = program(
    'kubectl',
    `case "$*" in
  *' ${dead} '*) echo 'connection refused' >&2; exit 1 ;;
  *' /livez '*) echo scheduler >>${asked}; [ "$(grep -c scheduler ${asked})" -gt ${String(schedulerAfter)} ] ;;
  *' /version '*) echo '"gitVersion": "v1.37.1"' ;;
  *' configmaps '*) if [ -e ${folder}/noted ]; then cat ${folder}/noted; else echo 'no answer' >&2; exit 1; fi ;;
esac`,
  );
  if (dead !== 'none') {
    program('sleep', `echo >>${folder}/slept`);
    program('date', `[ "$*" = +%s ] && echo $(($(wc -l <${folder}/slept) * 60)) || exec /bin/date "$@"`);
    writeFileSync(join(folder, 'slept'), '');
  }
  const job = script('kubeadm/kubeadm-upgrade.sh', {
    ...{ HOW: how, ROLE: 'control-plane', VERSION: '1.37.1', CLUSTER: 'demo', MARKER: marker, KEPT: 3 },
    ...{ KUBERNETES: kubernetes(), KUBELET: join(folder, 'kubelet') },
    ...{ KUBECTL: kubectl, HTTP_PROXY_URL: '', HTTPS_PROXY_URL: '', NO_PROXY_LIST: '' },
  });
  const { script: text } = runsKubeadm(job);
  const ran = spawnSync('sh', ['-eu', '-c', dead === 'none' ? shClock(folder).inScript(text) : text], {
    cwd: folder,
    encoding: 'utf8',
    env: { ...process.env, PATH: `${folder}:${process.env['PATH'] ?? ''}` },
  });
  return { ...ran, asked: readFileSync(asked, 'utf8').trim().split('\n'), isMarked: existsSync(marker), marker };
}

describe('kubeadm’s upgrade of a control plane', () => {
  test('is verified at the ports of its components, and leaves no marker', () => {
    const { status, asked, isMarked } = upgraded({ schedulerAfter: 2, cutOff: false });
    expect(status).toBe(0);
    expect(asked).toEqual(['kubeadm upgrade node --config config.yaml', 'scheduler', 'scheduler', 'scheduler']);
    expect(isMarked).toBe(false);
  });

  test('that was cut off begins when the components run again, for kubeadm needs them', () => {
    const { status, stdout, asked } = upgraded({ schedulerAfter: 2, cutOff: true });
    expect(status).toBe(0);
    expect(stdout).toContain('waiting: controller manager and scheduler start again');
    expect(asked.indexOf('kubeadm upgrade node --config config.yaml')).toBe(3);
  });
});

test.each([
  ['kube-apiserver', '/readyz'],
  ['kube-controller-manager', '/healthz'],
  ['kube-scheduler', '/livez'],
])(
  'an upgrade that kubeadm calls a success fails when %s dies with its new manifest, and stays marked',
  (name, dead) => {
    const { status, stderr, isMarked } = upgraded({ schedulerAfter: 0, cutOff: false, dead });
    expect(status).toBe(1);
    expect(stderr).toBe(
      `kubeadm has upgraded this control plane to 1.37.1, and after 240 s there is still:\n${name}: connection refused\n`,
    );
    expect(isMarked).toBe(true);
  },
);

describe('kubeadm that fails', () => {
  const noted = (text: string): void => writeFileSync(join(folder, 'noted'), text);
  const failing = (kubeadm: string, over: Partial<Upgrade> = {}) =>
    upgraded({ schedulerAfter: 0, cutOff: false, kubeadm: `${kubeadm}\nexit 1`, ...over });

  test('before it changed anything leaves no marker: another version may follow', () => {
    noted('kubeadm-config 7');
    const { status, stderr, isMarked } = failing("echo 'preflight: the version argument is invalid' >&2");
    expect([status, isMarked]).toEqual([1, false]);
    expect(stderr).toContain('kubeadm has changed nothing on this host');
  });

  test.each([
    ['a manifest', (path: string) => `echo new >${path}/kubernetes/manifests/etcd.yaml`],
    ['a manifest that it put back', (path: string) => `mv ${path}/kubernetes/manifests/etcd.yaml ${path}/e; mv ${path}/e ${path}/kubernetes/manifests/etcd.yaml`], // prettier-ignore
    ['the kubelet’s configuration', (path: string) => `echo new >${path}/kubelet/config.yaml`],
    ['a ConfigMap of the cluster', (path: string) => `echo kubeadm-config 8 >${path}/noted`],
  ])('after it changed %s leaves its marker, with its version and command', (_, change) => {
    noted('kubeadm-config 7');
    const { marker, stderr } = failing(change(folder), { how: 'apply' });
    expect(JSON.parse(readFileSync(marker, 'utf8'))).toMatchObject({ stage: 'begun', about: '1.37.1', how: 'apply' });
    expect(stderr).not.toContain('changed nothing');
  });

  test('leaves its marker where the cluster does not tell, and where an earlier run was cut off', () => {
    expect(failing('').isMarked).toBe(true);
    rmSync(join(folder, 'marker.json'));
    noted('kubeadm-config 7');
    expect(failing('', { cutOff: true }).isMarked).toBe(true);
  });
});

describe('kubeadm’s copy of etcd’s data', () => {
  const COPY = 'kubeadm-backup-etcd-2026-11-25-09-00-00';
  const REPLACED = 'kubeadm-backup-manifests-2026-11-25-09-00-00';
  const made = (path: string, minutesAgo: number): void => {
    mkdirSync(path, { recursive: true });
    const at = new Date(Date.now() - minutesAgo * 60_000);
    utimesSync(path, at, at);
  };
  /** The copy that an earlier kubeadm has made, and when a manifest was put in the place of another one for the last time. */
  function left(copiedMinutesAgo: number, replacedMinutesAgo: number): void {
    mkdirSync(join(backups(), COPY, 'etcd', 'member'), { recursive: true });
    for (const name of [COPY, REPLACED]) made(join(backups(), name), copiedMinutesAgo);
    made(join(kubernetes(), 'manifests'), replacedMinutesAgo);
  }
  const found = (): readonly string[] => readdirSync(backups()).sort();

  test('goes if the upgrade was cut off before it replaced a manifest: it may be half of one', () => {
    left(30, 90);
    expect(upgraded({ schedulerAfter: 0, cutOff: true }).status).toBe(0);
    expect(found()).toEqual([]);
  });

  test('stays if a manifest was replaced after it, also where kubeadm has put the old one back', () => {
    left(30, 29);
    upgraded({ schedulerAfter: 0, cutOff: true });
    expect(found()).toEqual([COPY, REPLACED]);
  });

  test('stays if no upgrade of kbuild was cut off: an operator may have made it', () => {
    left(30, 90);
    upgraded({ schedulerAfter: 0, cutOff: false });
    expect(found()).toEqual([COPY, REPLACED]);
  });

  test('stays if it is older than the upgrade that was cut off, or that fails now: an operator may have made it', () => {
    left(90, 120);
    upgraded({ schedulerAfter: 0, cutOff: true });
    expect(upgraded({ schedulerAfter: 0, cutOff: false, kubeadm: 'exit 3' }).status).toBe(3);
    expect(found()).toEqual([COPY, REPLACED]);
  });

  test('goes at once if it found no room, and kubeadm’s error is passed on', () => {
    made(join(kubernetes(), 'manifests'), 90);
    const kubeadm = `mkdir -p ${backups()}/${REPLACED} ${backups()}/${COPY}/etcd; echo 'no space left on device' >&2; exit 3`;
    const { status, stderr } = upgraded({ schedulerAfter: 0, cutOff: false, kubeadm });
    expect([status, stderr]).toEqual([3, 'no space left on device\n']);
    expect(found()).toEqual([]);
  });
});
