import type { Fleet } from '../cluster/fleet/fleet.ts';
import type { ClusterUp } from '../cluster/fleet/view.ts';
import { Refused } from '../errors.ts';
import { ofCluster, textIn, within } from '../shell/decode.ts';
import { numberOf } from '../shell/probe.ts';
import type { InventoryWith } from './plugin.value.ts';

const NET_CONF = 'v1/ConfigMap/kube-flannel/kube-flannel-cfg';

/**
 * The backend of the live flannel, e.g. `vxlan VNI 1, port 8472`; undefined if there is no flannel. @throws FactError
 * if its ConfigMap has another form
 */
function liveBackend(cluster: ClusterUp): string | undefined {
  const live = cluster.objects.get(NET_CONF);
  if (live === undefined) return undefined;
  return ofCluster(cluster, "flannel's net-conf.json", () => {
    const { Type, VNI = 1, Port = 8472 } = within(JSON.parse(textIn(within(live, 'data')['net-conf.json'])), 'Backend');
    return backendText(textIn(Type), numberOf(String(VNI)), numberOf(String(Port)));
  });
}

const backendText = (type: string, vni: number, port: number): string =>
  type === 'vxlan' ? `vxlan with VNI ${String(vni)} at port ${String(port)}` : type;

/**
 * flannel on Windows hosts runs as pods or as services. Only pods have the first object, only services have the second.
 */
const PODS = 'apps/v1/DaemonSet/kube-flannel/kube-flannel-windows';
const SERVICES = 'rbac.authorization.k8s.io/v1/ClusterRoleBinding//kbuild-windows-flannel';

/** Refuses to change flanneld and kube-proxy of Windows hosts from pods to services or back: a host would run both. */
function formRefusals(
  { name, network }: InventoryWith<'flannel'>,
  owned: readonly string[],
): readonly Refused<'windows-network'>[] {
  const desired = network.windows?.services === true;
  if (network.windows === undefined || !owned.includes(desired ? PODS : SERVICES)) return [];
  const [found, other] = desired ? ['pods', 'services'] : ['services', 'pods'];
  return [
    new Refused(
      'windows-network',
      name,
      `flanneld and kube-proxy of its Windows hosts are ${found}, and network.windows.services makes them ` +
        `${other}; a host would have both`,
      'take the Windows hosts out: `kbuild remove`, delete them from the inventory, `kbuild up`; then put them ' +
        'back with the other setting',
    ),
  ];
}

/**
 * Refuses Windows hosts if the live flannel cannot reach them. `up` does not change flannel's backend as a side effect
 * of a new worker: the network of every Linux host would change under its running pods.
 */
export function flannelRefusals(
  inventory: InventoryWith<'flannel'>,
  { cluster }: Fleet,
): readonly Refused<'windows-network'>[] {
  const { name, network } = inventory;
  if (network.windows === undefined || cluster.state !== 'up') return [];
  const { backend, port, vni } = network.flannel;
  const desired = backendText(backend, vni, port);
  const live = liveBackend(cluster);
  const form = formRefusals(inventory, cluster.owned);
  if (live === undefined || live === desired) return form;
  const settings = backend === 'vxlan' ? `{ port: ${String(port)}, vni: ${String(vni)} }` : `{ backend: ${backend} }`;
  return [
    new Refused(
      'windows-network',
      name,
      `its flannel is ${live}, and Windows hosts need ${desired}; changing it cuts pods of different hosts off ` +
        'from each other until flannel has restarted everywhere',
      `in a maintenance window: take the Windows hosts out of the inventory, set network.flannel: ${settings}, ` +
        'run `kbuild up` and reboot the Linux hosts; then put the Windows hosts back',
    ),
  ];
}
