import ipaddr from 'ipaddr.js';
import { isOwnPluginInterface } from '../components/network-plugins/index.ts';
import { overlap } from '../topology/subnets.ts';
import { serviceCidr } from '../configuration/service-subnets.ts';
import { objectKey } from '../facts/cluster.ts';
import { hasKubelet } from '../facts/joined.ts';
import { eachHost } from './each-host.ts';

/** True for an interface that a former node left, and that kbuild's network plugin takes over: `leftovers` warns of it. */
const isLeftover = (device: string): boolean => device === 'kube-ipvs0' || isOwnPluginInterface(device);

export const routeOverlap = eachHost(
  {
    name: 'route-overlap',
    title: 'no route of the host leads into podSubnet, serviceSubnet or moreServiceSubnets',
    why: 'The host would send packets for pods elsewhere, or pods could not reach what the route leads to. Choose another subnet: afterwards podSubnet and serviceSubnet cannot be changed.',
    severities: ['error'],
  },
  ({ inventory, facts, fleet }) => {
    const { podSubnet, serviceSubnet } = inventory.network;
    const { cluster } = fleet;
    const owned = cluster.state === 'up' ? cluster.owned : [];
    const subnets: readonly (readonly [setting: string, cidr: string])[] = [
      ...(hasKubelet(facts) ? [] : Object.entries({ podSubnet, serviceSubnet })),
      // These come to live clusters, too.
      ...inventory.network.moreServiceSubnets
        .filter((cidr) => !owned.includes(objectKey(serviceCidr(cidr))))
        .map((cidr) => ['moreServiceSubnets', cidr] as const),
    ];
    const foreign = facts.routes.table.filter(({ destination }) => destination !== 'default');
    return subnets.flatMap(([setting, cidr]) =>
      foreign.flatMap(({ destination, device }) => {
        const network = destination.includes('/') ? destination : `${destination}/32`;
        if (!ipaddr.isValidCIDR(network) || isLeftover(device)) return [];
        // A route for the Services alone is what a host without a default route needs.
        if (destination === serviceSubnet || !overlap(cidr, network)) return [];
        return [
          {
            severity: 'error' as const,
            message: `its route to ${destination}${device === '' ? '' : ` (${device})`} lies in network.${setting} ${cidr}`,
            remedy: `choose another ${setting}`,
          },
        ];
      }),
    );
  },
);
