import type { InventoryWith } from '../../../components/network-plugins/network-plugin.ts';
import type { WindowsHost } from '../../../model/inventory.ts';
import type { JsonObject } from '../../../shell/decode.ts';
import { hnsNetwork } from '../hns-network.ts';

/**
 * What outbound NAT leaves as it is. Overlay: pods and Services only, because hosts have no way back to a pod's address
 * (Microsoft's flannel_overlay.conf, flannel-overlay.yml of sig-windows-tools). host-gw: also the hosts themselves, which do
 * (kubernetes #86482); other machines of their subnet do not.
 */
const exceptions = ({ network, hosts }: InventoryWith<'flannel'>): readonly string[] => [
  network.podSubnet,
  network.serviceSubnet,
  ...(network.flannel.backend === 'vxlan' ? [] : hosts.map(({ internalAddress }) => `${internalAddress}/32`)),
];

/** flannel's CNI configuration of a Windows host. Outbound NAT gives packets the address of the host, but for exceptions. */
export function windowsCniConfig(
  inventory: InventoryWith<'flannel'>,
  { internalAddress: address }: Pick<WindowsHost, 'internalAddress'>,
): JsonObject {
  const { serviceSubnet, flannel } = inventory.network;
  const outboundNat = { Type: 'OutBoundNAT', Settings: { Exceptions: exceptions(inventory) } };
  const route = (type: string, DestinationPrefix: string): JsonObject => ({
    Type: type,
    Settings: { DestinationPrefix, NeedEncap: true },
  });
  const common = {
    name: hnsNetwork(inventory),
    cniVersion: '0.3.0',
    type: 'flannel',
    capabilities: { portMappings: true, dns: true },
  };
  if (flannel.backend === 'vxlan') {
    const provider = { Type: 'ProviderAddress', Settings: { ProviderAddress: address } };
    const AdditionalArgs = [outboundNat, route('SDNROUTE', serviceSubnet), provider].map((Value) => ({
      Name: 'EndpointPolicy',
      Value,
    }));
    return { ...common, delegate: { type: 'sdnoverlay', AdditionalArgs } };
  }
  const policies = [outboundNat, route('SDNRoute', serviceSubnet), route('SDNRoute', `${address}/32`)].map((value) => ({
    name: 'EndpointPolicy',
    value,
  }));
  return { ...common, delegate: { type: 'win-bridge', apiVersion: 2, loopbackDSR: true, policies } };
}
