// @module-tag linux
import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { script, using } from '../../src/templates.ts';
import { requireProgram } from '../needs/table.ts';

const FROM = 'unix:///run/containerd/containerd.sock';
const TO = 'unix:///run/crio/crio.sock';

let folder = '';
const at = (name: string): string => join(folder, name);
const kubelet = (name: string): string => at(`kubelet/${name}`);
const put = (name: string, lines: readonly string[]): void => {
  writeFileSync(at(name), `#!/bin/sh\n${lines.join('\n')}\n`);
  chmodSync(at(name), 0o755);
};

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'kbuild-move-runtime-'));
  for (const name of ['sh', 'grep', 'cat', 'rm', 'tr', 'sed', 'sync', 'chmod', 'mv', 'dirname', 'rmdir'])
    symlinkSync(requireProgram(name), at(name));
  put('systemctl', [`echo "$*" >>${at('did')}`]);
  put('timeout', ['shift 3', 'exec "$@"']);
  mkdirSync(at('kubelet'));
  writeFileSync(at('did'), '');
  writeFileSync(kubelet('config.yaml'), `cgroupDriver: systemd\ncontainerRuntimeEndpoint: ${FROM}\nmaxPods: 110\n`);
  writeFileSync(kubelet('instance-config.yaml'), `containerRuntimeEndpoint: ${FROM}\n`);
  writeFileSync(kubelet('kubeadm-flags.env'), 'KUBELET_KUBEADM_ARGS="--node-ip=10.0.0.21"\n');
  // Two pods: p1 of a user, p2 of the control plane, each with a container, until `rmp`. Where `stuck` is there, they never end.
  writeFileSync(at('pods'), 'p1\np2\n');
  put('crictl', [
    'shift 2; shift; endpoint=$1; shift',
    `if [ -e ${at('silent')} ] && grep -qxF "$endpoint" ${at('silent')}; then exit 1; fi`,
    `case "$*" in`,
    `  version) ;;`,
    `  "pods -q --label tier=control-plane") grep p2 ${at('pods')} || true ;;`,
    `  "pods -q") cat ${at('pods')} ;;`,
    `  "pods -q --state Ready") cat ${at('pods')} ;;`,
    `  "ps -q --pod "*) echo "c-$4" ;;`,
    `  "ps -q") while read -r pod; do echo "c-$pod"; done <${at('pods')} ;;`,
    `  *) echo "$*" >>${at('did')} ;;`,
    `esac`,
    `if [ "$1" = rmp ] && [ ! -e ${at('stuck')} ]; then grep -vx "$3" ${at('pods')} >${at('pods.new')} || true; mv ${at('pods.new')} ${at('pods')}; fi`,
  ]);
});
afterEach(() => rmSync(folder, { recursive: true }));

function run(): { readonly status: number | null; readonly stderr: string; readonly did: readonly string[] } {
  const { script: text } = script('runtime/move-runtime.sh', { FROM, TO, UNITS: ['containerd'] });
  const { status, stderr } = spawnSync('/bin/sh', ['-s'], {
    input: `set -eu\n${text.replaceAll('/var/lib/kubelet/', `${at('kubelet')}/`).replaceAll('/etc/crictl.yaml', at('crictl.yaml'))}`,
    env: { PATH: folder },
    encoding: 'utf8',
  });
  return { status, stderr, did: readFileSync(at('did'), 'utf8').trim().split('\n').filter(Boolean) };
}
const text = (name: string): string => readFileSync(kubelet(name), 'utf8');

describe('move the pods of a host to another runtime', () => {
  test('the kubelet stops, pods end and go, those of the control plane last, and the kubelet starts with the new socket', () => {
    expect(run()).toEqual({
      status: 0,
      stderr: '',
      did: [
        'start containerd',
        'stop kubelet',
        ...['stop -t 30 c-p1', 'stopp p1', 'rmp -f p1'],
        ...['stop -t 30 c-p2', 'stopp p2', 'rmp -f p2'],
        'start kubelet',
      ],
    });
    expect(text('config.yaml')).toBe(`cgroupDriver: systemd\ncontainerRuntimeEndpoint: ${TO}\nmaxPods: 110\n`);
    expect(text('instance-config.yaml')).toBe(`containerRuntimeEndpoint: ${TO}\n`);
    expect(text('kubeadm-flags.env')).toBe('KUBELET_KUBEADM_ARGS="--node-ip=10.0.0.21"\n');
  });

  test('where an older kubeadm gave the socket as a flag, the flag changes, and an empty setting stays', () => {
    writeFileSync(kubelet('config.yaml'), 'containerRuntimeEndpoint: ""\n');
    rmSync(kubelet('instance-config.yaml'));
    const flags = (socket: string): string =>
      `KUBELET_KUBEADM_ARGS="--container-runtime-endpoint=${socket} --node-ip=10.0.0.21"\n`;
    writeFileSync(kubelet('kubeadm-flags.env'), flags(FROM));
    expect(run().status).toBe(0);
    expect(text('kubeadm-flags.env')).toBe(flags(TO));
    expect(text('config.yaml')).toBe('containerRuntimeEndpoint: ""\n');
  });

  test('the operator’s crictl follows, and one that names another socket stays', () => {
    writeFileSync(at('crictl.yaml'), `runtime-endpoint: "${FROM}"\nimage-endpoint: ${FROM}\ntimeout: 2\n`);
    run();
    expect(readFileSync(at('crictl.yaml'), 'utf8')).toBe(
      `runtime-endpoint: "${TO}"\nimage-endpoint: ${TO}\ntimeout: 2\n`,
    );
  });

  test.each([
    [
      'the new runtime does not answer',
      () => writeFileSync(at('silent'), `${TO}\n`),
      'the new runtime does not answer',
    ],
    ['the present one does not answer', () => writeFileSync(at('silent'), `${FROM}\n`), 'its pods cannot be ended'],
    ['there is no crictl', () => rmSync(at('crictl')), 'install the package cri-tools'],
    [
      'no file names a runtime',
      () => {
        for (const name of ['config.yaml', 'instance-config.yaml']) writeFileSync(kubelet(name), 'maxPods: 110\n');
      },
      'no file of kubeadm',
    ],
  ])('nothing stops where %s', (_, spoil, words) => {
    spoil();
    const { status, stderr, did } = run();
    expect(status).toBe(1);
    expect(stderr).toContain(words);
    expect(did).not.toContain('stop kubelet');
  });

  test('where containers do not end, the kubelet starts again with the old socket', () => {
    writeFileSync(at('stuck'), '');
    const { status, stderr, did } = run();
    expect({ status, last: did.at(-1) }).toEqual({ status: 1, last: 'start kubelet' });
    expect(stderr).toContain('containers of Kubernetes still run: c-p1 c-p2');
    expect(text('config.yaml')).toContain(FROM);
  });
});

describe('take the runtime out of use that Kubernetes has left', () => {
  const FILES = ['certs.d/registry/hosts.toml', 'proxy.conf', 'config.toml'];
  function retire(more: Readonly<Record<string, string>> = {}) {
    mkdirSync(at('certs.d/registry'), { recursive: true });
    for (const name of [...FILES, 'others.toml']) writeFileSync(at(name), 'x\n');
    const { script: words } = using(
      script('runtime/runtime-left.sh', { SOCKET: '/run/containerd/containerd.sock' }),
      script('runtime/retire-runtime.sh', {
        UNITS: ['containerd'],
        IN_USE: '',
        FILES: FILES.map(at),
        CONFIG: at('config.toml'),
        BACKUP: at('config.toml.kbuild-backup'),
        REGISTRIES: at('certs.d'),
        REGISTRIES_USE: 'whole',
        ...more,
      }),
    );
    const { status, stderr } = spawnSync('/bin/sh', ['-s'], {
      input: `set -eu\nruntime_serving=${more['SERVING'] ?? '/run/crio/crio.sock'}\nruntime_others() { ${more['OTHERS'] ?? ':'}; }\n${words}`,
      env: { PATH: folder },
      encoding: 'utf8',
    });
    return { status, stderr, did: readFileSync(at('did'), 'utf8') };
  }

  test('it stops, and kbuild’s files go; those of others stay', () => {
    expect(retire()).toMatchObject({ status: 0, did: expect.stringContaining('disable --now containerd') as string });
    for (const name of [...FILES, 'certs.d']) expect(existsSync(at(name)), name).toBe(false);
    expect(existsSync(at('others.toml'))).toBe(true);
  });

  test('a folder of registries that others use stays, without what kbuild had there', () => {
    expect(retire({ REGISTRIES_USE: 'shared' }).status).toBe(0);
    expect([existsSync(at('certs.d')), existsSync(at('certs.d/registry'))]).toEqual([true, false]);
  });

  test('its configuration from before kbuild comes back', () => {
    writeFileSync(at('config.toml.kbuild-backup'), 'mine\n');
    retire();
    expect(readFileSync(at('config.toml'), 'utf8')).toBe('mine\n');
  });

  test('it goes on where other programs have containers on it, or a running service wants it', () => {
    expect(retire({ IN_USE: ' containers of Docker' }).did).not.toContain('disable');
    put('systemctl', [
      `case "$1" in show) echo docker.service multi-user.target ;; *) echo "$*" >>${at('did')} ;; esac`,
    ]);
    expect(retire().did).not.toContain('disable');
  });

  describe('where it has units beside its own, and one that it starts containers by', () => {
    const UNITS = 'docker docker.socket\ncontainerd';
    const stops = (more: Readonly<Record<string, string>>) =>
      retire({ UNITS, ...more })
        .did.split('\n')
        .filter((line) => line.startsWith('disable'));

    test('all stop, and none starts another again', () =>
      expect(stops({})).toEqual(['disable --now docker docker.socket', 'disable --now containerd']));

    test('what others have on it keeps it, by name, running or not', () => {
      const others = `if [ "$1" = docker ]; then echo 'the container mine'; echo 'the volume data'; fi`;
      expect(stops({ OTHERS: others })).toEqual(['disable --now containerd']);
      put('systemctl', [
        `case "$1" in show) if [ "$9" = containerd ]; then echo docker.service; fi ;; *) echo "$*" >>${at('did')} ;; esac`,
      ]);
      writeFileSync(at('did'), '');
      expect(stops({ OTHERS: others })).toEqual([]);
    });

    test('nothing is touched where it does not say what others have on it', () => {
      const { status, stderr, did } = retire({ UNITS, OTHERS: 'return 1' });
      expect(status).not.toBe(0);
      expect(stderr).toContain('docker does not tell what others have on it');
      expect(did).not.toContain('disable');
      expect(existsSync(at('config.toml'))).toBe(true);
    });
  });

  test('what kbuild wrote goes, too, where its package was removed since', () => {
    put('systemctl', [`echo "$*" >>${at('did')}`, 'case "$1" in cat | disable) exit 1 ;; esac']);
    expect(retire()).toMatchObject({ status: 0, did: expect.not.stringContaining('disable') as string });
    for (const name of FILES) expect(existsSync(at(name)), name).toBe(false);
  });

  test('it stays as it is while the kubelet uses it', () => {
    const { status, did } = retire({ SERVING: '/run/containerd/containerd.sock' });
    expect({ status, did }).toEqual({ status: 1, did: '' });
    expect(existsSync(at('config.toml'))).toBe(true);
  });
});
