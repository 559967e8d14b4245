// @module-tag linux
import { spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { RuntimeName } from '../../src/inventory/inventory.ts';
import { OWN_HEADER } from '../../src/paths.ts';
import { formerRuntimes, formerSettings, otherContainers } from '../../src/runtime/other-runtimes.facts.ts';
import type { Probe } from '../../src/shell/probe.ts';
import { inventory } from '../fakes/inventory.ts';

let folder = '';
const put = (path: string, text: string): void => {
  mkdirSync(dirname(join(folder, path)), { recursive: true });
  writeFileSync(join(folder, path), text);
};
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'kbuild-former-runtimes-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

/** What a probe finds on a host whose files lie in the folder. */
function seen<T>({ command, parse }: Probe<T>): T {
  const script = command.script.replaceAll(/(?<![\w/.-])\/(?=etc\/|run\/|var\/)/g, `${folder}/`);
  const { stdout, stderr, status } = spawnSync('sh', ['-s'], { input: `set -eu\n${script}`, encoding: 'utf8' });
  expect({ stderr, status }).toEqual({ stderr: '', status: 0 });
  return parse(stdout.replaceAll(folder, ''), { middleMs: 0 });
}
const wanting = (name: RuntimeName) => inventory({ runtime: { name } });

describe('the runtimes that Kubernetes used on a host before', () => {
  const CRIO = '/etc/crio/crio.conf.d/50-kbuild.conf';
  const CONTAINERD = '/etc/containerd/config.toml';

  test('are those with kbuild’s configuration beside the inventory’s, with all files of kbuild and no other', () => {
    put(CRIO, `${OWN_HEADER}.\n`);
    put('/etc/containers/registries.conf.d/50-kbuild.conf', 'x\n');
    put('/etc/crio/crio.conf.d/10-crio.conf', 'x\n');
    expect(seen(formerRuntimes(wanting('containerd')))).toEqual(
      new Map([['crio', [CRIO, '/etc/containers/registries.conf.d/50-kbuild.conf']]]),
    );
    expect(seen(formerRuntimes(wanting('crio')))).toEqual(new Map());
  });

  test('have what kbuild has put aside, too', () => {
    put(CONTAINERD, `${OWN_HEADER}.\n`);
    put(`${CONTAINERD}.kbuild-backup`, 'mine\n');
    expect(seen(formerRuntimes(wanting('crio')))).toEqual(
      new Map([['containerd', [CONTAINERD, `${CONTAINERD}.kbuild-backup`]]]),
    );
  });

  test('are none where another program configured it', () => {
    put(CONTAINERD, 'version = 3\n');
    expect(seen(formerRuntimes(wanting('crio')))).toEqual(new Map());
  });

  test('are unknown where the answer names no path', () =>
    expect(() => formerRuntimes(wanting('containerd')).parse('# runtime crio\n.\n', { middleMs: 0 })).toThrow());
});

describe('containers of others on another runtime than the inventory’s', () => {
  const TASKS = '/run/containerd/io.containerd.runtime.v2.task';
  beforeEach(() => {
    put(`${TASKS}/moby/a/pid`, '1');
    put(`${TASKS}/k8s.io/b/pid`, '1');
  });

  test('are counted where the kubelet uses that runtime', () => {
    put('/var/lib/kubelet/config.yaml', `containerRuntimeEndpoint: unix://${folder}/run/containerd/containerd.sock\n`);
    expect(seen(otherContainers(wanting('crio')))).toEqual(
      new Map([
        [
          'containerd',
          new Map([
            ['k8s.io', 1],
            ['moby', 1],
          ]),
        ],
      ]),
    );
  });

  test('are not asked for where it uses the inventory’s', () => {
    put('/var/lib/kubelet/config.yaml', `containerRuntimeEndpoint: unix://${folder}/run/crio/crio.sock\n`);
    expect(seen(otherContainers(wanting('crio')))).toEqual(new Map());
  });
});

describe('settings of a runtime that the host has left', () => {
  const record = '{"before":null,"wrote":{}}\n';
  test('are read where kbuild’s record of them is there, with the permissions of the file', () => {
    put('/etc/docker/daemon.json', '{}\n');
    chmodSync(join(folder, '/etc/docker/daemon.json'), 0o600);
    expect(seen(formerSettings(wanting('crio')))).toEqual(new Map());
    put('/etc/docker/kbuild-daemon.json', record);
    const found = { text: '{}\n', record, mode: 0o600 };
    expect(seen(formerSettings(wanting('crio')))).toEqual(new Map([['docker', found]]));
    expect(seen(formerSettings(wanting('docker')))).toEqual(new Map());
    rmSync(join(folder, '/etc/docker/daemon.json'));
    expect(seen(formerSettings(wanting('crio'))).get('docker')).toEqual({ text: undefined, record, mode: undefined });
  });

  test('are unknown where the answer is another', () =>
    expect(() => formerSettings(wanting('crio')).parse('# runtime docker\nhm\n', { middleMs: 0 })).toThrow());
});
