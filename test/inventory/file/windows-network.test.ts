import { expect, test } from 'vitest';
import type { Gathered } from '../../../src/inventory/file/gather.ts';
import { resolved } from '../../../src/inventory/file/resolve.ts';
import { type InventoryFile, inventorySchema } from '../../../src/inventory/schema/schema.ts';
import { flannel } from '../../../src/network/flannel.file.ts';

const file = (network: object, os: 'linux' | 'windows' = 'windows'): InventoryFile =>
  inventorySchema.parse({
    name: 'demo',
    kubernetes: { version: '1.36.3' },
    network,
    hosts: [
      { name: 'cp1', address: '10.0.0.11', role: 'control-plane' },
      { name: 'win1', address: '10.0.0.31', role: 'worker', os },
    ],
  });

const KEYS = { deb: { content: 'a' }, rpm: { content: 'b' } };
const NOTHING = {
  kubernetesKey: KEYS,
  runtimeKey: KEYS,
  ssh: [{}, {}],
  registryCas: [],
  registryPasswords: [],
  runtimeKeys: new Map(),
  files: [],
  pluginManifests: [],
} as unknown as Gathered;
const networkOf = (input: InventoryFile) => resolved(input, NOTHING, '/inventory.yaml', (path) => path).network;

test('a Windows host in the inventory decides the backend of Linux hosts, before the first Windows host joins', () => {
  expect(networkOf(file({}, 'linux'))).toMatchObject({ flannel: { port: 8472, vni: 1 }, windows: undefined });
  expect(networkOf(file({}))).toMatchObject({ flannel: { port: 4789, vni: 4096 }, windows: { mode: 'overlay' } });
  expect(networkOf(file({ flannel: { vni: 5000 } }))).toMatchObject({ flannel: { port: 4789, vni: 5000 } });
});

test('the kind of the Windows network follows the backend', () => {
  expect(networkOf(file({ flannel: { backend: 'host-gw' } })).windows?.mode).toBe('host-gw');
});

test('flanneld and kube-proxy are pods unless the inventory has services: true', () => {
  expect(networkOf(file({})).windows?.services).toBe(false);
  expect(networkOf(file({ windows: { services: true } })).windows?.services).toBe(true);
});

test('the image of kube-proxy follows the version', () => {
  expect(networkOf(file({})).windows?.kubeProxyImage).toBe(
    'docker.io/sigwindowstools/kube-proxy:v1.36.3-calico-hostprocess',
  );
});

test('with Calico kbuild installs only kube-proxy on Windows', () => {
  const calico = networkOf(file({ plugin: 'calico', calico: { operator: ['operator.yaml'] } }));
  expect(calico).toMatchObject({ calico: {}, windows: { mode: 'calico', services: false } });
  expect(calico.windows?.kubeProxyImage).toBe('docker.io/sigwindowstools/kube-proxy:v1.36.3-calico-hostprocess');
  expect(networkOf(file({ plugin: 'calico' }, 'linux')).windows).toBeUndefined();
  expect(networkOf(file({}))).not.toHaveProperty('calico');
});

test('with plugin none kbuild installs no network on Windows either', () => {
  expect(networkOf(file({ plugin: 'none' })).windows).toBeUndefined();
});

test('settings that Windows does not support are problems, only if the inventory has a Windows host', () => {
  const old = { flannel: { port: 8472, vni: 1 } };
  expect(flannel.rule!(file(old)).map(({ message }) => message)).toEqual([
    'must be 4789 with Windows hosts, found 8472; leave it out',
    'must be at least 4096 with Windows hosts, found 1; leave it out',
  ]);
  expect(flannel.rule!(file(old, 'linux'))).toEqual([]);
  expect(flannel.rule!(file({ flannel: { ...old.flannel, backend: 'host-gw' } }))).toEqual([]);
});

test('with Windows hosts the image for tests is one that has both builds', () => {
  expect(networkOf(file({})).testImage).toBe('registry.k8s.io/e2e-test-images/agnhost:2.62');
  expect(networkOf(file({}, 'linux')).testImage).toBe('registry.k8s.io/e2e-test-images/agnhost:2.53');
  expect(networkOf(file({ testImage: 'r.example/agnhost:1' })).testImage).toBe('r.example/agnhost:1');
});

test('flannel uses nftables as kube-proxy does, with an image that can, or as the inventory says', () => {
  const nftables = (flannel: object, mode: string) =>
    networkOf({ ...file({ flannel }, 'linux'), kubeadm: { ...file({}, 'linux').kubeadm, kubeProxy: { mode } } });
  const is = (value: boolean) => ({ flannel: { nftables: value } });
  expect(nftables({}, 'nftables')).toMatchObject(is(true));
  expect(nftables({}, 'iptables')).toMatchObject(is(false));
  expect(networkOf(file({}, 'linux'))).toMatchObject(is(false));
  expect(nftables({ nftables: false }, 'nftables')).toMatchObject(is(false));
  expect(nftables({ nftables: true }, 'iptables')).toMatchObject(is(true));
  for (const image of [
    'r.example/flannel:v0.24.4',
    'r.example/flannel:latest',
    `r.example/flannel@sha256:${'a'.repeat(64)}`,
  ])
    expect(nftables({ image }, 'nftables')).toMatchObject(is(false));
  for (const image of ['r.example:5000/flannel:0.25.0', `r.example/flannel:v0.28.10-1@sha256:${'a'.repeat(64)}`])
    expect(nftables({ image }, 'nftables')).toMatchObject(is(true));
});
