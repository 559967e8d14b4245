import type { Fleet } from '../cluster/fleet/fleet.ts';
import { Refused } from '../errors.ts';
import { type JsonObject, objectsOf, ofCluster, textIn, within } from '../shell/decode.ts';
import { INSTALLATION } from './calico.value.ts';
import type { InventoryWith } from './plugin.value.ts';

/**
 * The fields of the operator's Installation that decide how hosts reach each other's pods. Its defaults are IPIP and
 * BGP. Throws on another form.
 */
function networkOf(installation: JsonObject) {
  const network = within(installation, 'spec', 'calicoNetwork');
  return {
    bgp: textIn(network['bgp'], 'Enabled'),
    linuxDataplane: textIn(network['linuxDataplane'], 'Iptables'),
    encapsulations: objectsOf(network['ipPools']).map(({ encapsulation }) => textIn(encapsulation, 'IPIP')),
  };
}

/**
 * Refuses a live Calico whose encapsulation, BGP or dataplane do not work with Windows hosts. `up` does not change
 * these settings as a side effect: the network of every node would change under its running pods.
 */
export function calicoRefusals(
  { name, network }: InventoryWith<'calico'>,
  { cluster }: Fleet,
): readonly Refused<'windows-network'>[] {
  if (network.windows === undefined || cluster.state !== 'up') return [];
  const live = cluster.objects.get(INSTALLATION);
  if (live === undefined) return [];
  const { bgp, linuxDataplane, encapsulations } = ofCluster(cluster, 'the Installation of Calico', () =>
    networkOf(live),
  );
  const found = [
    ...[...new Set(encapsulations)]
      .filter((encapsulation) => encapsulation !== 'VXLAN')
      .map((encapsulation) => `encapsulation ${encapsulation}`),
    ...(bgp === 'Disabled' ? [] : [`bgp ${bgp}`]),
    ...(linuxDataplane === 'BPF' ? ['linuxDataplane BPF'] : []),
  ];
  if (found.length === 0) return [];
  return [
    new Refused(
      'windows-network',
      name,
      `its Calico has ${found.join(', ')}, and Windows hosts need encapsulation VXLAN, bgp Disabled and ` +
        'linuxDataplane Iptables on all nodes; changing it cuts pods of different hosts off from each other until ' +
        'all of them have changed',
      'in a maintenance window: `kubectl edit installation default`, set the three, wait until `kubectl -n ' +
        'calico-system rollout status daemonset/calico-node` is done, and run `kbuild up` again; until then take ' +
        'the Windows hosts out, and keep Calico with network.plugin: none and manifests of your own',
    ),
  ];
}
