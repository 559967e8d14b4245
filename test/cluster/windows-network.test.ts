import { describe, expect, test } from 'vitest';
import { windowsNetworkRefusals } from '../../src/cluster/windows-network.ts';
import { calicoRefusals } from '../../src/cluster/calico-network.ts';
import { calicoObjects } from '../../src/network/calico.ts';
import type { Inventory, JsonObject } from '../../src/model/inventory.ts';
import { flannelObjects } from '../../src/network/flannel.ts';
import { objectKey } from '../../src/facts/cluster.ts';
import { windowsNetworkManifest } from '../../src/windows/network/manifest.ts';
import { clusterOf, cp1, fleetOf, inventoryOf, joinedControlPlane } from '../fakes/cluster.ts';

const { network } = inventoryOf();
const windows = { mode: 'overlay', services: false, flannelImage: 'f', kubeProxyImage: 'k' } as const;
const mixed = inventoryOf({
  network: { ...network, flannel: { ...network.flannel, port: 4789, vni: 4096 }, windows },
});
const routed = inventoryOf({ network: { ...network, flannel: { ...network.flannel, backend: 'host-gw' }, windows } });

/** A fleet whose cluster has the flannel of an inventory. */
const builtBy = (inventory: Inventory) =>
  fleetOf(
    [[cp1, joinedControlPlane()]],
    clusterOf({ objects: new Map(flannelObjects(inventory).map((object) => [objectKey(object), object])) }),
  );

test('a cluster that was built for Windows takes Windows hosts', () => {
  expect(windowsNetworkRefusals(mixed, builtBy(mixed))).toEqual([]);
  expect(windowsNetworkRefusals(routed, builtBy(routed))).toEqual([]);
  expect(windowsNetworkRefusals(mixed, fleetOf([]))).toEqual([]);
});

test('one that was built otherwise refuses them, and the way to go is named', () => {
  const [refused] = windowsNetworkRefusals(mixed, builtBy(inventoryOf()));
  expect(refused).toMatchObject({ exitCode: 7 });
  expect(refused!.message).toContain('its flannel is vxlan with VNI 1 at port 8472');
  expect(refused!.message).toContain('Windows hosts need vxlan with VNI 4096 at port 4789');
  expect(refused!.remedy).toContain('network.flannel: { port: 4789, vni: 4096 }');
  expect(windowsNetworkRefusals(routed, builtBy(mixed))[0]!.remedy).toContain('network.flannel: { backend: host-gw }');
});

test('without Windows hosts flannel may change', () => {
  const other = inventoryOf({ network: { ...network, flannel: { ...network.flannel, vni: 2 } } });
  expect(windowsNetworkRefusals(other, builtBy(inventoryOf()))).toEqual([]);
});

test('pods do not become services under Windows hosts, nor the other way round', () => {
  const services = inventoryOf({ network: { ...mixed.network, windows: { ...windows, services: true } } });
  const live = (of: Inventory) =>
    fleetOf([[cp1, joinedControlPlane()]], clusterOf({ owned: windowsNetworkManifest(of)!.objects.map(objectKey) }));
  expect(windowsNetworkRefusals(services, live(services))).toEqual([]);
  expect(windowsNetworkRefusals(services, live(mixed))[0]!.message).toContain('are pods, and network.windows.services');
  expect(windowsNetworkRefusals(mixed, live(services))[0]).toMatchObject({
    exitCode: 7,
    remedy: expect.stringContaining('kbuild remove') as string,
  });
});

describe('Calico', () => {
  const settings = { operator: [] };
  const calico = inventoryOf({ network: { ...network, plugin: 'calico', calico: settings } });
  const installation = calicoObjects(calico, settings).find(({ kind }) => kind === 'Installation')!;
  const live = (calicoNetwork: JsonObject) =>
    fleetOf(
      [[cp1, joinedControlPlane()]],
      clusterOf({ objects: new Map([[objectKey(installation), { ...installation, spec: { calicoNetwork } }]]) }),
    );

  test('as kbuild builds it takes Windows hosts', () => {
    const built = live((installation['spec'] as { readonly calicoNetwork: JsonObject }).calicoNetwork);
    expect(calicoRefusals(calico, built)).toEqual([]);
    expect(calicoRefusals(calico, fleetOf([]))).toEqual([]);
    expect(windowsNetworkRefusals(calico, built)).toEqual([]);
  });

  test.each([
    [{ bgp: 'Enabled', ipPools: [{ encapsulation: 'VXLAN' }] }, 'its Calico has bgp Enabled,'],
    [{ bgp: 'Disabled', ipPools: [{ encapsulation: 'VXLANCrossSubnet' }] }, 'its Calico has encapsulation VXLANCrossSubnet,'], // prettier-ignore
    [{ bgp: 'Disabled', linuxDataplane: 'BPF', ipPools: [{ encapsulation: 'VXLAN' }] }, 'its Calico has linuxDataplane BPF,'], // prettier-ignore
    [{ ipPools: [{}] }, 'its Calico has encapsulation IPIP, bgp Enabled,'],
  ])('%j is refused, and the way to go is named', (calicoNetwork, said) => {
    const [refused] = calicoRefusals(calico, live(calicoNetwork));
    expect(refused).toMatchObject({ exitCode: 7 });
    expect(refused!.message).toContain(said);
    expect(refused!.message).toContain('Windows hosts need encapsulation VXLAN, bgp Disabled');
    expect(refused!.remedy).toContain('kubectl edit installation default');
  });

  test('another plugin’s cluster is not asked', () => {
    expect(calicoRefusals(inventoryOf(), live({}))).toEqual([]);
  });
});
