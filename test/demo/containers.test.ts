import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { stringify } from 'yaml';
import { load } from '../inventory/load.ts';
import { atPublishedPort, knownHosts } from './container-demo.ts';
import { containerInventory } from './container-inventory.ts';
import { hasModules, networkOf } from './containers.ts';

const FILES = { identityFile: '/demo/id_ed25519', knownHostsFile: '/demo/known_hosts' };
const HOSTS = ['demo-cp1', 'demo-w1', 'demo-w2'].map((name, n) => ({
  ...{ name, sshPort: 32768 + n, internalAddress: `172.17.0.${String(2 + n)}` },
}));

const yaml = (): string => stringify(containerInventory(HOSTS, FILES), { aliasDuplicateObjects: false });

describe('the inventory of containers', () => {
  test('is one that kbuild accepts, with all from the sites that publish it', async () => {
    const { inventory } = await load(yaml());
    expect(
      inventory.hosts.map(({ name, role, address, internalAddress }) => [name, role, address, internalAddress]),
    ).toEqual([
      ['demo-cp1', 'control-plane', '127.0.0.1', '172.17.0.2'],
      ['demo-w1', 'worker', '127.0.0.1', '172.17.0.3'],
      ['demo-w2', 'worker', '127.0.0.1', '172.17.0.4'],
    ]);
    expect(inventory.hosts.map(({ ssh }) => ssh.port)).toEqual([32768, 32769, 32770]);
    expect(inventory.kubernetes.repository.url).toBe('https://pkgs.k8s.io/core:/stable:/v1.36/deb');
  });

  test('leaves the swap of the machine alone, and accepts cgroup v1', async () => {
    const { inventory } = await load(yaml());
    for (const host of inventory.hosts)
      expect(host.os === 'linux' && host.kubelet.config).toMatchObject({ failSwapOn: false, failCgroupV1: false });
  });

  test('has the same version of Kubernetes as the example of the demo', async () => {
    const example = readFileSync(new URL('../../inventories/demo.yaml', import.meta.url), 'utf8');
    const { inventory } = await load(example);
    expect(containerInventory(HOSTS, FILES)['kubernetes']).toEqual({ version: inventory.kubernetes.version });
  });

  test('takes other settings in the place of its own, whole keys', () => {
    const kubernetes = { version: '1.37.1', imageRepository: 'mirror.example' };
    expect(containerInventory(HOSTS, FILES, { kubernetes })).toMatchObject({ kubernetes, name: 'demo' });
  });
});

describe('what an engine says of a container', () => {
  const Ports = { '22/tcp': [{ HostIp: '127.0.0.1', HostPort: '32768' }], '6443/tcp': [{ HostPort: '32769' }] };
  const network = { internalAddress: '172.17.0.2', sshPort: 32768, apiPort: 32769 };

  test('Docker, old and new, and Podman', () => {
    expect(networkOf('cp1', JSON.stringify({ IPAddress: '172.17.0.2', Ports }))).toEqual(network);
    const Networks = { bridge: { IPAddress: '172.17.0.2' } };
    expect(networkOf('cp1', JSON.stringify({ Networks, Ports }))).toEqual(network);
    expect(networkOf('cp1', JSON.stringify({ IPAddress: '', Networks: { podman: Networks.bridge }, Ports }))).toEqual(
      network,
    );
  });

  test('a worker publishes no API', () => {
    const { apiPort } = networkOf(
      'w1',
      JSON.stringify({ IPAddress: '172.17.0.3', Ports: { '22/tcp': Ports['22/tcp'] } }),
    );
    expect(apiPort).toBeUndefined();
  });

  test('a container that has ended has no network', () => {
    expect(() => networkOf('cp1', '{"IPAddress":"","Ports":{}}')).toThrow('cp1: the container has no address');
    expect(() => networkOf('cp1', JSON.stringify({ IPAddress: '172.17.0.2', Ports: { '22/tcp': null } }))).toThrow(
      'cp1: the container has no address, or no published port',
    );
  });
});

test('host keys are known by the published port', () => {
  const keys = 'ssh-ed25519 AAAAC3 root@demo-cp1\necdsa-sha2-nistp256 AAAAE2 root@demo-cp1\n';
  expect(knownHosts(32768, keys)).toBe(
    '[127.0.0.1]:32768 ssh-ed25519 AAAAC3\n[127.0.0.1]:32768 ecdsa-sha2-nistp256 AAAAE2\n',
  );
});

test('the kubeconfig of this machine leads to the published port', () => {
  const made = 'clusters:\n- cluster:\n    server: https://172.17.0.2:6443\n  name: demo\n';
  expect(atPublishedPort(made, 32769)).toBe(made.replace('172.17.0.2:6443', '127.0.0.1:32769'));
});

test('a virtual machine with the engine has modules of its kernel', () => {
  expect(hasModules('', 'darwin')).toBe(true);
  expect(hasModules('Docker Desktop', 'linux')).toBe(true);
});
