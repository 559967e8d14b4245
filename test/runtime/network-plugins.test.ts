import { describe, expect, test } from 'vitest';
import { listeningPorts } from '../../src/host/openings.value.ts';
import type { Inventory } from '../../src/inventory/inventory.ts';
import { isPluginInterface, networkPlugin, networkPlugins } from '../../src/network/plugins.value.ts';
import { roleImages } from '../../src/runtime/images.step.ts';
import { cp1, inventoryOf, w1 } from '../fakes/cluster.ts';
import { windowsHost } from '../fakes/inventory.ts';
import { calicoNetwork, ciliumNetwork, flannelNetwork, noNetwork } from '../fakes/network.ts';
import { problemsOf } from '../inventory/load.ts';

const having = (network: Inventory['network']): Inventory => inventoryOf({ network });
const overhead = (network: Inventory['network']): number =>
  networkPlugin(having(network)).overheadBytes(having(network));

describe('every network plugin', () => {
  test('has a name of its own, and other pods, objects and files than the others', () => {
    const own = (read: (plugin: (typeof networkPlugins)[number]) => unknown) => networkPlugins.map(read);
    for (const values of [own(({ name }) => name), own(({ agent }) => JSON.stringify(agent))])
      expect(new Set(values).size).toBe(networkPlugins.length);
  });

  test.each([
    ['flannel', ['cni0', 'flannel.1', 'flannel.4096']],
    ['calico', ['vxlan.calico', 'cali0123456789a']],
    ['cilium', ['cilium_host', 'cilium_vxlan', 'lxc0123456789ab', 'lxc_health']],
  ])('%s: knows its interfaces, and no other', (_, names) => {
    expect(names.filter((name) => !isPluginInterface(name))).toEqual([]);
    expect(['eth0', 'lxcbr0', 'br0', 'cni-podman0'].filter(isPluginInterface)).toEqual([]);
  });
});

describe('a packet between hosts grows', () => {
  test.each([
    ['by VXLAN of flannel', flannelNetwork(), 50],
    ['by nothing with routes of flannel', flannelNetwork({ backend: 'host-gw' }), 0],
    ['by VXLAN of Calico', calicoNetwork(), 50],
    ['by nothing that kbuild knows where the user installs the network', noNetwork, 0],
    ['by VXLAN of Cilium', ciliumNetwork(), 50],
    ['by Geneve of Cilium', ciliumNetwork({ tunnel: 'geneve' }), 50],
    ['by VXLAN and WireGuard of Cilium', ciliumNetwork({ encryption: 'wireguard' }), 145],
    ['by nothing with routes of Cilium', ciliumNetwork({ tunnel: 'none' }), 0],
  ])('%s', (_, network, bytes) => {
    expect(overhead(network)).toBe(bytes);
  });
});

describe('Cilium (not built yet)', () => {
  const opened = (network: Inventory['network']): readonly string[] =>
    listeningPorts(having(network), w1)
      .filter(({ program, from }) => program.startsWith('cilium') && from !== 'itself')
      .map(({ port, protocol }) => `${String(port)}/${protocol}`);

  test('listens at its tunnel, for encryption, for health, and the operator for metrics', () => {
    expect(opened(ciliumNetwork())).toEqual(['8472/udp', '4240/tcp', '9963/tcp']);
    expect(opened(ciliumNetwork({ tunnel: 'geneve', encryption: 'wireguard' }))).toEqual([
      '6081/udp',
      '51871/udp',
      '4240/tcp',
      '9963/tcp',
    ]);
    expect(opened(ciliumNetwork({ tunnel: 'none' }))).toEqual(['4240/tcp', '9963/tcp']);
  });

  test('has images of agent and operator on every node', () => {
    expect(roleImages({ inventory: having(ciliumNetwork()), host: cp1 })).toEqual(
      expect.arrayContaining(['quay.io/cilium/cilium:v1.20.2', 'quay.io/cilium/operator-generic:v1.20.2']),
    );
  });

  test('leaves files, interfaces and chains', () => {
    const inventory = having(ciliumNetwork());
    const { files, chains } = networkPlugin(inventory);
    const { interfaces } = networkPlugin(inventory).leaves(inventory);
    expect(files).toContain('/etc/cni/net.d/05-cilium.conflist');
    expect(chains).toEqual(['CILIUM_', 'OLD_CILIUM_']);
    expect(['cilium_host', 'eth0'].map((name) => interfaces.test(name))).toEqual([true, false]);
  });

  test('is not installed on Windows hosts', () => {
    const inventory = inventoryOf({ hosts: [cp1, windowsHost('win1')], network: ciliumNetwork() });
    expect(networkPlugin(inventory).windows).toBeUndefined();
  });

  test('is refused with its place and with the plugins that kbuild supports', async () => {
    const text = `name: demo
kubernetes: { version: "1.36.3", endpoint: k8s.example.com }
network:
  plugin: cilium
  cilium: { tunnel: geneve }
kubeadm:
  cluster: { proxy: { disabled: true } }
hosts:
  - { name: cp1, address: 10.0.0.11, role: control-plane }
`;
    expect(await problemsOf(text)).toEqual([
      '4:11 network.plugin: cilium is not built yet: kbuild has no steps that install it; use one of: flannel, calico, none; with none, its chart in charts installs it (docs/charts.md)',
      '7:33 kubeadm.cluster.proxy.disabled: is set by kbuild: Cilium runs beside kube-proxy',
    ]);
  });
});
