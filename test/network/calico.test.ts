import { describe, expect, test } from 'vitest';
import { observedObjects } from '../../src/commands/objects.phases.ts';
import { up } from '../../src/commands/up.phases.ts';
import { listeningPorts } from '../../src/host/openings.value.ts';
import type { Inventory, UserManifest } from '../../src/inventory/inventory.ts';
import { calicoObjects } from '../../src/network/calico.step.ts';
import { networkManifests } from '../../src/network/plugins.step.ts';
import { toYaml } from '../../src/shell/yaml.ts';
import { inventoryOf, w1 } from '../fakes/cluster.ts';
import { windowsHost } from '../fakes/inventory.ts';
import { calicoNetwork, withNetwork } from '../fakes/network.ts';

/** Calico was never run with kbuild: what its documentation and its operator's source ask for must at least stand there. */
const crd = (name: string) => ({
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name },
});
const crds: UserManifest = {
  source: 'https://files.example/v3.32.2/v1_crd_projectcalico_org.yaml',
  objects: [crd('installations.operator.tigera.io'), crd('ipamconfigs.crd.projectcalico.org')],
};
const operator: UserManifest = {
  source: 'tigera-operator.yaml',
  objects: [
    { apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name: 'tigera-operator', namespace: 'tigera-operator' } },
  ],
};
const linux = (over: Parameters<typeof calicoNetwork>[0] = {}) =>
  withNetwork(inventoryOf(), calicoNetwork({ manifests: [crds, operator], ...over }));
const mixed = () => ({
  ...linux({ windows: { mode: 'calico', services: false, kubeProxyImage: 'kube-proxy' } }),
  hosts: [...inventoryOf().hosts, windowsHost('win1')],
});
const installationOf = (of: ReturnType<typeof linux>) => calicoObjects(of).find(({ kind }) => kind === 'Installation')!;
const golden = (name: string): string => new URL(`../golden/${name}`, import.meta.url).pathname;

describe('golden (not run)', () => {
  test('Linux hosts alone', async () => {
    await expect(toYaml(calicoObjects(linux()))).toMatchFileSnapshot(golden('calico.yaml'));
  });

  test('with Windows hosts', async () => {
    await expect(toYaml(calicoObjects(mixed()))).toMatchFileSnapshot(golden('windows/calico.yaml'));
  });
});

test('what Windows needs of Linux hosts is there before the first of them joins, Windows hosts or not', () => {
  for (const of of [linux(), mixed()]) {
    expect(installationOf(of)).toMatchObject({
      spec: { calicoNetwork: { bgp: 'Disabled', linuxDataplane: 'Iptables', ipPools: [{ encapsulation: 'VXLAN' }] } },
    });
    expect(calicoObjects(of)).toContainEqual(
      expect.objectContaining({ spec: { strictAffinity: true, autoAllocateBlocks: true } }),
    );
  }
  const names = up(mixed()).map(({ name }) => name);
  expect(names.indexOf('network')).toBeLessThan(names.indexOf('join'));
});

test('Windows hosts add what concerns them alone', () => {
  expect(JSON.stringify(installationOf(linux()))).not.toMatch(/windows|serviceCIDRs/i);
  expect(installationOf(mixed())).toMatchObject({
    spec: {
      serviceCIDRs: ['10.96.0.0/12'],
      calicoNetwork: { windowsDataplane: 'HNS' },
      windowsNodes: { cniBinDir: '/opt/cni/bin', cniConfigDir: '/etc/cni/net.d' },
    },
  });
});

test('its pods ask the endpoint, by text as a ConfigMap wants it', () => {
  expect(calicoObjects(linux())[0]).toMatchObject({
    metadata: { name: 'kubernetes-services-endpoint', namespace: 'tigera-operator' },
    data: { KUBERNETES_SERVICE_HOST: 'k8s.example', KUBERNETES_SERVICE_PORT: '6443' },
  });
});

test('the operator comes before what is of its kinds, as its project publishes it', () => {
  const { title, objects } = networkManifests(linux())[0]!;
  expect(title).toBe('the operator of Calico (v1_crd_projectcalico_org.yaml, tigera-operator.yaml)');
  expect(objects).toEqual([...crds.objects, ...operator.objects]);
  const steps = up(linux())
    .find(({ name }) => name === 'network')!
    .steps.map(({ name }) => name);
  expect(steps.indexOf('calico-operator')).toBeLessThan(steps.indexOf('calico'));
  // Also what joining hosts are told.
  expect(observedObjects(linux())).toHaveLength(10);
});

test('where the cluster itself serves Calico’s API, strict affinity is said there', () => {
  const native = { ...crds, objects: [crd('ipamconfigurations.projectcalico.org')] };
  expect(calicoObjects(linux({ manifests: [native, operator] })).at(-1)).toMatchObject({
    apiVersion: 'projectcalico.org/v3',
    kind: 'IPAMConfiguration',
  });
});

test('images come from the inventory’s registry, with its path', () => {
  const from = (imageRepository: string) => installationOf(linux({ calico: { imageRepository } }));
  expect(from('mirror.example:5000/k8s/calico')).toMatchObject({
    spec: { registry: 'mirror.example:5000/', imagePath: 'k8s/calico' },
  });
  expect(from('mirror.example')).toMatchObject({ spec: { registry: 'mirror.example/' } });
  expect(JSON.stringify(installationOf(linux()))).not.toContain('registry');
});

test('hosts reach each other by VXLAN, nodes reach Typha, and no host needs BGP', () => {
  const ports = (of: Inventory, host: Inventory['hosts'][number]) =>
    listeningPorts(of, host)
      .filter(({ program, from }) => program.startsWith('calico') && from !== 'itself')
      .map(({ port, protocol }) => `${String(port)}/${protocol}`);
  expect(ports(linux(), w1)).toEqual(['4789/udp', '5473/tcp']);
  expect(ports(mixed(), windowsHost('win1'))).toEqual(['4789/udp']);
});
