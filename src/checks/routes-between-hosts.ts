import { landmarks } from '../topology/landmarks.ts';
import type { HostFinding } from './each-host.ts';
import { eachHost } from './each-host.ts';

export const routesBetweenHosts = eachHost(
  {
    name: 'routes-between-hosts',
    title: 'the ways between hosts start at the internalAddress',
    why: 'A host that sends from another address is unknown to the firewalls and to the overlay of the others. Check the routes of hosts with several interfaces. Of many hosts the control planes and two of every /24 stand for all.',
    severities: ['error', 'warning'],
  },
  ({ inventory, host, facts }): readonly HostFinding[] => {
    const others = landmarks(inventory).filter(({ name }) => name !== host.name);
    const lost = others.filter(({ internalAddress }) => !facts.routes.to.has(internalAddress));
    const bySource = new Map<string, string[]>();
    for (const other of others) {
      const source = facts.routes.to.get(other.internalAddress)?.source;
      if (source === undefined || source === '' || source === host.internalAddress) continue;
      bySource.set(source, [...(bySource.get(source) ?? []), other.name]);
    }
    return [
      ...(lost.length === 0
        ? []
        : [
            {
              severity: 'error' as const,
              message: `has no route to ${lost.map(({ name, internalAddress }) => `${name} (${internalAddress})`).join(', ')}`,
              remedy: 'add a route, or correct internalAddress',
            },
          ]),
      ...[...bySource].map(([source, names]) => ({
        severity: 'warning' as const,
        message: `sends from ${source}, not from ${host.internalAddress}, to ${names.join(', ')}`,
        remedy: 'correct the routes, or set internalAddress to the address that the hosts use among each other',
      })),
    ];
  },
);
