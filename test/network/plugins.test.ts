import { describe, expect, test } from 'vitest';
import type { Inventory } from '../../src/inventory/inventory.ts';
import { isPluginInterface, networkPlugin, networkPlugins } from '../../src/network/plugins.value.ts';
import { inventoryOf } from '../fakes/cluster.ts';
import { calicoNetwork, ciliumNetwork, flannelNetwork, noNetwork } from '../fakes/network.ts';

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
    ['by Geneve of Cilium', ciliumNetwork({ routing: 'geneve' }), 50],
    ['by VXLAN and WireGuard of Cilium', ciliumNetwork({ wireguard: true }), 145],
    ['by nothing with routes of Cilium', ciliumNetwork({ routing: 'native', port: undefined }), 0],
  ])('%s', (_, network, bytes) => {
    expect(overhead(network)).toBe(bytes);
  });
});
