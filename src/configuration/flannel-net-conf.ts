import type { Inventory, JsonObject } from '../model/inventory.ts';

/** `liveBackend` of windows-network.ts reads it back. */
const backendOf = ({ flannel: { backend, vni, port } }: Inventory['network']): JsonObject =>
  backend === 'vxlan' ? { Type: 'vxlan', VNI: vni, Port: port } : { Type: 'host-gw' };

/** The text of flannel's net-conf.json: the same on every host, whether flanneld is a pod or a service there. */
export const flannelNetConf = ({ network }: Inventory): string =>
  JSON.stringify({ Network: network.podSubnet, EnableNFTables: false, Backend: backendOf(network) }, undefined, 2);
