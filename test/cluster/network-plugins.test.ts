import { describe, expect, test } from 'vitest';
import { networkRefusals } from '../../src/cluster/network-plugins/index.ts';
import { calicoObjects } from '../../src/network/calico.ts';
import type { JsonObject } from '../../src/model/inventory.ts';
import { flannelObjects } from '../../src/network/flannel.ts';
import { objectKey } from '../../src/facts/cluster.ts';
import { windowsNetworkManifest } from '../../src/windows/network/index.ts';
import { clusterOf, cp1, fleetIn, fleetOf, inventoryOf, joinedHost } from '../fakes/cluster.ts';
import { calicoNetwork, flannelNetwork, mixedFlannel, withNetwork } from '../fakes/network.ts';

const linux = withNetwork(inventoryOf(), flannelNetwork());
const mixed = withNetwork(linux, mixedFlannel());
const routed = withNetwork(linux, flannelNetwork({ backend: 'host-gw' }, mixed.network.windows));

/** A fleet whose cluster has the flannel of an inventory. */
const builtBy = (inventory: typeof linux) =>
  fleetIn(
    clusterOf({ objects: new Map(flannelObjects(inventory).map((object) => [objectKey(object), object])) }),
    joinedHost(cp1),
  );

test('a cluster that was built for Windows takes Windows hosts', () => {
  expect(networkRefusals(mixed, builtBy(mixed))).toEqual([]);
  expect(networkRefusals(routed, builtBy(routed))).toEqual([]);
  expect(networkRefusals(mixed, fleetOf())).toEqual([]);
});

test('one that was built otherwise refuses them, and the way to go is named', () => {
  const [refused] = networkRefusals(mixed, builtBy(linux));
  expect(refused).toMatchObject({ exitCode: 7 });
  expect(refused!.message).toContain('its flannel is vxlan with VNI 1 at port 8472');
  expect(refused!.message).toContain('Windows hosts need vxlan with VNI 4096 at port 4789');
  expect(refused!.remedy).toContain('network.flannel: { port: 4789, vni: 4096 }');
  expect(networkRefusals(routed, builtBy(mixed))[0]!.remedy).toContain('network.flannel: { backend: host-gw }');
});

test('without Windows hosts flannel may change', () => {
  const other = withNetwork(linux, flannelNetwork({ vni: 2 }));
  expect(networkRefusals(other, builtBy(linux))).toEqual([]);
});

test('pods do not become services under Windows hosts, nor the other way round', () => {
  const services = withNetwork(linux, mixedFlannel({ services: true }));
  const live = (of: typeof linux) =>
    fleetIn(clusterOf({ owned: windowsNetworkManifest(of)!.objects.map(objectKey) }), joinedHost(cp1));
  expect(networkRefusals(services, live(services))).toEqual([]);
  expect(networkRefusals(services, live(mixed))[0]!.message).toContain('are pods, and network.windows.services');
  expect(networkRefusals(mixed, live(services))[0]).toMatchObject({
    exitCode: 7,
    remedy: expect.stringContaining('kbuild remove') as string,
  });
});

describe('Calico', () => {
  const calico = withNetwork(inventoryOf(), calicoNetwork());
  const installation = calicoObjects(calico).find(({ kind }) => kind === 'Installation')!;
  const live = (calicoNetwork: JsonObject) =>
    fleetIn(
      clusterOf({ objects: new Map([[objectKey(installation), { ...installation, spec: { calicoNetwork } }]]) }),
      joinedHost(cp1),
    );

  test('as kbuild builds it takes Windows hosts', () => {
    const built = live((installation['spec'] as { readonly calicoNetwork: JsonObject }).calicoNetwork);
    expect(networkRefusals(calico, built)).toEqual([]);
    expect(networkRefusals(calico, fleetOf())).toEqual([]);
  });

  test.each([
    [{ bgp: 'Enabled', ipPools: [{ encapsulation: 'VXLAN' }] }, 'its Calico has bgp Enabled,'],
    [
      { bgp: 'Disabled', ipPools: [{ encapsulation: 'VXLANCrossSubnet' }] },
      'its Calico has encapsulation VXLANCrossSubnet,',
    ],
    [
      { bgp: 'Disabled', linuxDataplane: 'BPF', ipPools: [{ encapsulation: 'VXLAN' }] },
      'its Calico has linuxDataplane BPF,',
    ],
    [{ ipPools: [{}] }, 'its Calico has encapsulation IPIP, bgp Enabled,'],
  ])('%j is refused, and the way to go is named', (calicoNetwork, said) => {
    const [refused] = networkRefusals(calico, live(calicoNetwork));
    expect(refused).toMatchObject({ exitCode: 7 });
    expect(refused!.message).toContain(said);
    expect(refused!.message).toContain('Windows hosts need encapsulation VXLAN, bgp Disabled');
    expect(refused!.remedy).toContain('kubectl edit installation default');
  });

  test('another plugin’s cluster is not asked', () => {
    expect(networkRefusals(inventoryOf(), live({}))).toEqual([]);
  });
});
