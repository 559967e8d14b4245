import ipaddr from 'ipaddr.js';
import { isOwnPluginInterface } from '../components/network-plugins/index.ts';
import { overlap } from '../topology/subnets.ts';
import { hasKubelet } from '../facts/joined.ts';
import { eachHost } from './each-host.ts';

/** True for an interface that a former node left, and that kbuild's network plugin takes over: `leftovers` warns of it. */
const isLeftover = (device: string): boolean => device === 'kube-ipvs0' || isOwnPluginInterface(device);

export const routeOverlap = eachHost(
  {
    name: 'route-overlap',
    title: 'no route of the host leads into podSubnet or serviceSubnet',
    why: 'The host would send packets for pods elsewhere, or pods could not reach what the route leads to. Choose another subnet: afterwards it cannot be changed.',
    severities: ['error'],
  },
  ({ inventory, facts }) => {
    if (hasKubelet(facts)) return [];
    const { podSubnet, serviceSubnet } = inventory.network;
    const foreign = facts.routes.table.filter(({ destination }) => destination !== 'default');
    return Object.entries({ podSubnet, serviceSubnet }).flatMap(([setting, cidr]) =>
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
