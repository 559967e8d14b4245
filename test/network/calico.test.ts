import { describe, expect, test } from 'vitest';
import { observedObjects } from '../../src/commands/objects.phases.ts';
import { objectKey } from '../../src/cluster/fleet/view.ts';
import { up } from '../../src/commands/up.phases.ts';
import { listeningPorts } from '../../src/host/openings.value.ts';
import type { Inventory, UserManifest } from '../../src/inventory/inventory.ts';
import { inventorySchema } from '../../src/inventory/schema/schema.ts';
import { calico as settings } from '../../src/network/calico.file.ts';
import { calicoObjects, felixObject } from '../../src/network/calico.step.ts';
import { calico as plugin } from '../../src/network/calico.value.ts';
import { networkManifests, networkSteps } from '../../src/network/plugins.step.ts';
import { toYaml } from '../../src/shell/yaml.ts';
import { clusterOf, inventoryOf, w1 } from '../fakes/cluster.ts';
import { windowsHost } from '../fakes/inventory.ts';
import { calicoNetwork, withNetwork } from '../fakes/network.ts';

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
const linux = (over: Parameters<typeof calicoNetwork>[0] = {}, calico: Parameters<typeof calicoNetwork>[1] = {}) =>
  withNetwork(inventoryOf(), calicoNetwork({ manifests: [crds, operator], ...over }, calico));
const mixed = () => ({
  ...linux({ windows: { mode: 'calico', services: false, kubeProxyImage: 'kube-proxy' } }),
  hosts: [...inventoryOf().hosts, windowsHost('win1')],
});
const installationOf = (of: ReturnType<typeof linux>) => calicoObjects(of).find(({ kind }) => kind === 'Installation')!;
const golden = (name: string): string => new URL(`../golden/${name}`, import.meta.url).pathname;

describe('golden', () => {
  test('Linux hosts alone', async () => {
    await expect(toYaml([...calicoObjects(linux()), felixObject(linux())])).toMatchFileSnapshot(golden('calico.yaml'));
  });

  // The lab has neither BIRD nor a kernel with WireGuard and IPIP.
  test('BGP between all nodes with IPIP between subnets, and WireGuard (not run)', async () => {
    const of = linux({}, { encapsulation: 'IPIPCrossSubnet', bgp: true, wireguard: true });
    await expect(toYaml([...calicoObjects(of), felixObject(of)])).toMatchFileSnapshot(golden('calico-bgp.yaml'));
  });

  test('with Windows hosts (not run)', async () => {
    await expect(toYaml([...calicoObjects(mixed()), felixObject(mixed())])).toMatchFileSnapshot(
      golden('windows/calico.yaml'),
    );
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
  expect(observedObjects(linux())).toHaveLength(11);
});

test('where the cluster itself serves Calico’s API, strict affinity is said there', () => {
  const native = { ...crds, objects: [crd('ipamconfigurations.projectcalico.org')] };
  expect(calicoObjects(linux({ manifests: [native, operator] })).at(-1)).toMatchObject({
    apiVersion: 'projectcalico.org/v3',
    kind: 'IPAMConfiguration',
  });
});

test('images come from the inventory’s registry, with its path', () => {
  const from = (imageRepository: string) => installationOf(linux({}, { imageRepository }));
  expect(from('mirror.example:5000/k8s/calico')).toMatchObject({
    spec: { registry: 'mirror.example:5000/', imagePath: 'k8s/calico' },
  });
  expect(from('mirror.example')).toMatchObject({ spec: { registry: 'mirror.example/' } });
  expect(JSON.stringify(installationOf(linux()))).not.toContain('registry');
});

const portsOf = (of: Inventory, host: Inventory['hosts'][number]) =>
  listeningPorts(of, host)
    .filter(({ program, from }) => /^(?:calico|bird)/.test(program) && from !== 'itself')
    .map(({ port, protocol }) => `${String(port)}/${protocol}`);

test('hosts reach each other by VXLAN, nodes reach Typha, and no host needs BGP', () => {
  expect(portsOf(linux(), w1)).toEqual(['4789/udp', '5473/tcp']);
  expect(portsOf(mixed(), windowsHost('win1'))).toEqual(['4789/udp']);
});

test('BGP and WireGuard need their ports, WireGuard one for each family', () => {
  expect(portsOf(linux({}, { encapsulation: 'None', bgp: true }), w1)).toEqual(['179/tcp', '5473/tcp']);
  const dual = { podSubnet: '10.244.0.0/16,fd00:10:244::/56', serviceSubnet: '10.96.0.0/12,fd00:10:96::/112' };
  expect(portsOf(linux(dual, { wireguard: true }), w1)).toEqual(['4789/udp', '51820/udp', '51821/udp', '5473/tcp']);
});

test('the MTU leaves room for the tunnel, or for WireGuard in its place', () => {
  const bytes = (calico: Parameters<typeof calicoNetwork>[1]) => plugin.overheadBytes(linux({}, calico));
  expect(bytes({})).toBe(50);
  expect(bytes({ wireguard: true })).toBe(60);
  expect(bytes({ encapsulation: 'IPIP', bgp: true })).toBe(20);
  expect(bytes({ encapsulation: 'None', bgp: true })).toBe(0);
});

test('Felix’ settings stay without WireGuard, and are compared by their values: Calico keeps its own in the same object', () => {
  const object = felixObject(linux());
  expect(object).toMatchObject({ kind: 'FelixConfiguration', spec: { wireguardEnabled: false } });
  // As a node's start leaves it.
  const live = (wireguardEnabled: boolean) => ({
    ...object,
    metadata: { name: 'default', annotations: { 'projectcalico.org/metadata': '{}' } },
    spec: { wireguardEnabled, reportingInterval: '0s', vxlanVNI: 4096 },
  });
  const changes = (found: ReturnType<typeof live>) => {
    const facts = clusterOf({ objects: new Map([[objectKey(object), found]]) });
    const step = networkSteps(linux()).find(({ name }) => name === 'calico-felix')!;
    return step.diff({ inventory: linux(), facts } as never);
  };
  expect(changes(live(false))).toEqual([]);
  expect(changes(live(true))).toHaveLength(1);
});

const fileOf = (network: object, os?: 'windows', more: object = {}) =>
  inventorySchema.parse({
    name: 'prod',
    kubernetes: { version: '1.36.3', endpoint: 'k8s.example:6443' },
    network: { plugin: 'calico', ...network },
    hosts: [
      { name: 'cp1', role: 'control-plane', address: '10.0.0.11' },
      { name: 'w1', role: 'worker', address: '10.0.0.21', ...(os === undefined ? {} : { os }) },
    ],
    ...more,
  });
/** What an inventory with these settings is refused or warned for. */
const saidOf = (calico: object, os?: 'windows', network: object = {}, more: object = {}) =>
  settings.rule!(fileOf({ calico, ...network }, os, more)).map(
    ({ path, message }) => `${path.slice(2).join('.')}: ${message}`,
  );
const HASH = 'ab'.repeat(32);

describe('its version', () => {
  const named = (calico: object) => settings.manifests!.entries(fileOf({ calico }));
  const at = (version: string, name: string) =>
    `https://raw.githubusercontent.com/projectcalico/calico/v${version}/manifests/${name}`;

  test('names the manifests of its project, each with its hash, which kbuild knows or the inventory says', () => {
    expect(named({ version: '3.28.5' })).toEqual([
      { source: at('3.28.5', 'tigera-operator.yaml'), sha256: expect.stringMatching(/^[0-9a-f]{64}$/) as string },
    ]);
    const sha256 = { 'v1_crd_projectcalico_org.yaml': HASH, 'tigera-operator.yaml': HASH };
    expect(named({ version: '3.32.3', sha256 })).toEqual([
      { source: at('3.32.3', 'v1_crd_projectcalico_org.yaml'), sha256: HASH },
      { source: at('3.32.3', 'tigera-operator.yaml'), sha256: HASH },
    ]);
    expect(saidOf({ version: '3.32.3', sha256 })).toEqual([]);
  });

  test('is refused without a hash for each of them, and with one for another file', () => {
    expect(saidOf({ version: '3.31.7', sha256: { 'calico.yaml': HASH, 'tigera-operator.yaml': HASH } })).toEqual([
      'sha256.calico.yaml: is no manifest of Calico 3.31.7, which has operator-crds.yaml and tigera-operator.yaml',
      expect.stringMatching(/^sha256: must name operator-crds\.yaml: the SHA-256 of https:\S+ .*kbuild knows/),
      expect.stringMatching(/^version: Calico 3\.31\.7 is tested by its project with Kubernetes 1\.32 to 1\.35/),
    ]);
  });

  test('is refused beside manifests by name, too old, or where neither is there', () => {
    expect(saidOf({ version: '3.28.5', operator: ['o.yaml'] })[0]).toMatch(/^version: is that of the manifests in/);
    expect(saidOf({ version: '3.26.4' })[0]).toMatch(/^version: must be 3\.27\.0 or newer/);
    expect(saidOf({})).toEqual([expect.stringMatching(/^version: is required, e\.g\. 3\.33\.1; or network/)]);
    expect(saidOf({ operator: ['o.yaml'], sha256: { 'o.yaml': HASH } })[0]).toMatch(/^sha256: is for manifests of/);
  });
});

describe('routing', () => {
  const operatorFile = { operator: ['o.yaml'] };

  test('by BGP is the default where the operator takes nothing else', () => {
    const bgp = (calico: object) => {
      const { calico: found } = settings.settings(fileOf({ calico }));
      return [found.encapsulation, found.bgp];
    };
    expect(bgp({})).toEqual(['VXLAN', false]);
    expect(bgp({ encapsulation: 'vxlan-cross-subnet', bgp: true })).toEqual(['VXLANCrossSubnet', true]);
    expect(bgp({ encapsulation: 'ipip' })).toEqual(['IPIP', true]);
    expect(bgp({ encapsulation: 'none' })).toEqual(['None', true]);
    expect(saidOf({ ...operatorFile, encapsulation: 'none', bgp: false })).toEqual([
      'bgp: must be true with encapsulation none: nodes learn routes by it',
    ]);
  });

  test('ipip is refused for IPv6, and its protocol is the user’s to open', () => {
    const ipip = { ...operatorFile, encapsulation: 'ipip' };
    expect(saidOf(ipip, undefined, { podSubnet: '10.244.0.0/16,fd00:10:244::/56' })).toEqual([
      'encapsulation: ipip carries no IPv6, which network.podSubnet has: use vxlan',
    ]);
    expect(saidOf(ipip, undefined, {}, { firewall: 'open' })).toEqual([
      expect.stringMatching(/^encapsulation: ipip is protocol 4, which `firewall: open` does not open/),
    ]);
  });

  test('Windows hosts need VXLAN alone', () => {
    for (const calico of [{ encapsulation: 'none' }, { bgp: true }, { wireguard: true }])
      expect(saidOf({ ...operatorFile, ...calico }, 'windows')).toContain(
        ': Windows hosts need encapsulation vxlan, without bgp and wireguard',
      );
    expect(saidOf(operatorFile, 'windows')).toEqual([expect.stringMatching(/never run with kbuild on Windows/)]);
  });
});
