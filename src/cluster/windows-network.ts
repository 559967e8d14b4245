import { Refused } from '../errors.ts';
import type { Fleet } from '../facts/fleet.ts';
import type { Inventory, JsonObject } from '../inventory/inventory.ts';

const NET_CONF = 'v1/ConfigMap/kube-flannel/kube-flannel-cfg';

/** How flannel of the live cluster connects hosts, e.g. `vxlan VNI 1, port 8472`; undefined when it is not there or cannot be read. */
function liveBackend(objects: ReadonlyMap<string, JsonObject>): string | undefined {
  const data = objects.get(NET_CONF)?.['data'] as JsonObject | undefined;
  try {
    const { Backend } = JSON.parse(String(data?.['net-conf.json'])) as {
      readonly Backend: { readonly Type: string; readonly VNI?: number; readonly Port?: number };
    };
    return backendText(Backend.Type, Backend.VNI ?? 1, Backend.Port ?? 8472);
  } catch {
    return undefined;
  }
}

const backendText = (type: string, vni: number, port: number): string =>
  type === 'vxlan' ? `vxlan with VNI ${String(vni)} at port ${String(port)}` : type;

/**
 * Windows hosts in a cluster whose flannel cannot reach them: it would have to change under the pods of every Linux host,
 * which `up` does not do as a side effect of a new worker.
 */
export function windowsNetworkRefusals({ name, network }: Inventory, { cluster }: Fleet): readonly Refused[] {
  if (network.windows === undefined || cluster.state !== 'up') return [];
  const { backend, port, vni } = network.flannel;
  const wanted = backendText(backend, vni, port);
  const live = liveBackend(cluster.objects);
  if (live === undefined || live === wanted) return [];
  const settings = backend === 'vxlan' ? `{ port: ${String(port)}, vni: ${String(vni)} }` : `{ backend: ${backend} }`;
  return [
    new Refused(
      name,
      `its flannel is ${live}, and Windows hosts need ${wanted}; changing it cuts pods of different hosts off from each other until flannel has restarted everywhere`,
      `in a maintenance window: take the Windows hosts out of the inventory, set network.flannel: ${settings}, run \`kbuild up\` and reboot the Linux hosts; then put the Windows hosts back`,
    ),
  ];
}
