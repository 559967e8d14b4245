import { describe, expect, test } from 'vitest';
import { objectKey } from '../../src/cluster/fleet/view.ts';
import { calicoObjects } from '../../src/network/calico.step.ts';
import { flannelObjects } from '../../src/network/flannel.step.ts';
import { networkRefusals } from '../../src/network/plugins.refusal.ts';
import type { JsonObject } from '../../src/shell/decode.ts';
import { windowsNetworkManifest } from '../../src/windows/network/plugins.step.ts';
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

test('flannel built for Windows accepts Windows hosts', () => {
  expect(networkRefusals(mixed, builtBy(mixed))).toEqual([]);
  expect(networkRefusals(routed, builtBy(routed))).toEqual([]);
  expect(networkRefusals(mixed, fleetOf())).toEqual([]);
});

test('flannel not built for Windows refuses Windows hosts and names the way to change it', () => {
  const [refused] = networkRefusals(mixed, builtBy(linux));
  expect(refused).toMatchObject({ exitCode: 7 });
  expect(refused!.message).toContain('its flannel is vxlan with VNI 1 at port 8472');
  expect(refused!.message).toContain('Windows hosts need vxlan with VNI 4096 at port 4789');
  expect(refused!.remedy).toContain('network.flannel: { port: 4789, vni: 4096 }');
  expect(networkRefusals(routed, builtBy(mixed))[0]!.remedy).toContain('network.flannel: { backend: host-gw }');
});

test('flannel’s backend may change if there is no Windows host', () => {
  const other = withNetwork(linux, flannelNetwork({ vni: 2 }));
  expect(networkRefusals(other, builtBy(linux))).toEqual([]);
});

test('flannel on Windows hosts does not change from pods to services or back', () => {
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
  const windows = { mode: 'calico', services: false, kubeProxyImage: 'kube-proxy' } as const;
  const calico = withNetwork(inventoryOf(), calicoNetwork({ windows }));
  const installation = calicoObjects(calico).find(({ kind }) => kind === 'Installation')!;
  const live = (calicoNetwork: JsonObject) =>
    fleetIn(
      clusterOf({ objects: new Map([[objectKey(installation), { ...installation, spec: { calicoNetwork } }]]) }),
      joinedHost(cp1),
    );

  test('accepts Windows hosts if kbuild installed it', () => {
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

  test('is not judged in a cluster with another plugin, and where the inventory has no Windows hosts', () => {
    expect(networkRefusals(inventoryOf(), live({}))).toEqual([]);
    expect(networkRefusals(withNetwork(inventoryOf(), calicoNetwork()), live({ bgp: 'Enabled' }))).toEqual([]);
  });
});
