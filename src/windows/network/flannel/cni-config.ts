import type { InventoryWith } from '../../../components/network-plugins/network-plugin.ts';
import type { JsonObject } from '../../../model/inventory.ts';
import { hnsNetwork } from '../hns-network.ts';

/** The network of the host, as observed. The inventory does not have it. */
export interface ManagementNetwork {
  /** The host's internalAddress. */
  readonly address: string;
  /** The subnet of that address, e.g. `10.0.0.0/24`. */
  readonly subnet: string;
}

/**
 * flannel's CNI configuration of a Windows host. Packets to pods, Services and the hosts' subnet keep their source
 * address. Outbound NAT gives all others the host's address.
 */
export function windowsCniConfig(
  inventory: InventoryWith<'flannel'>,
  { address, subnet }: ManagementNetwork,
): JsonObject {
  const { podSubnet, serviceSubnet, flannel } = inventory.network;
  const outboundNat = { Type: 'OutBoundNAT', Settings: { Exceptions: [podSubnet, serviceSubnet, subnet] } };
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
