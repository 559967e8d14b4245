import { closedOpenings } from '../cluster/openings.ts';
import { linuxFacts, type Fleet } from '../facts/fleet.ts';
import type { Inventory } from '../model/inventory.ts';
import type { Blocked } from '../surveys/port-matrix.ts';
import type { Check } from './check.ts';

/** True where `up` will open the way: the host's own firewall keeps it closed, and the inventory says `firewall: open`. */
function upOpens(inventory: Inventory, fleet: Fleet, { way, from }: Blocked): boolean {
  if (inventory.firewall !== 'open') return false;
  return (linuxFacts(fleet, way.to)?.firewall ?? []).some((firewall) =>
    closedOpenings(inventory, way.to, firewall).some(
      ({ ports, protocol, from: source }) =>
        ports[0] === way.port && protocol === way.protocol && source === from.internalAddress,
    ),
  );
}

const key = ({ way, how }: Blocked): string => `${way.to.name} ${way.protocol} ${String(way.port)} ${how}`;

export const portMatrix: Check = {
  name: 'port-matrix',
  title: 'every port of every role is reached by the hosts that need it',
  why: 'A survey (`check --active`, and before the first change of fresh hosts): kbuild listens on every needed port that is free, TCP and the overlay\'s UDP, and connects from every host that will. "refused" comes from a firewall that rejects, "no answer" from one that drops, on the host or between the hosts (security groups).',
  severities: ['error', 'warning', 'due'],
  test: ({ inventory, fleet }) => {
    const { surveys } = fleet;
    if (surveys === undefined) return [];
    const due = surveys.ports.blocked.filter((one) => upOpens(inventory, fleet, one));
    const groups = byKey(surveys.ports.blocked.filter((one) => !due.includes(one)));
    return [
      ...surveys.ports.failed.map(({ host, reason }) => ({
        severity: 'unknown' as const,
        host: host.name,
        message: `could not try the ways between hosts: ${reason}`,
      })),
      ...[...groups.values()].map((blocked) => {
        const [{ way, how }] = blocked as [Blocked];
        const names = blocked.map(({ from }) => from.name).join(', ');
        return {
          severity: 'error' as const,
          host: way.to.name,
          message: `${way.protocol} port ${String(way.port)} (${way.program}) cannot be reached from ${names}: ${how}`,
          remedy: 'open it in the firewalls of the host and between the hosts',
        };
      }),
      ...surveys.ports.unverified.map(({ to, port, program }) => ({
        severity: 'warning' as const,
        host: to.name,
        message: `udp port ${String(port)} (${program}) was not tried: it is in use, and is not disturbed`,
      })),
      ...[...byKey(due).values()].map((blocked) => {
        const [{ way }] = blocked as [Blocked];
        return {
          severity: 'due' as const,
          host: way.to.name,
          message: `${way.protocol} port ${String(way.port)} (${way.program}) is closed by the host's firewall, which up opens`,
        };
      }),
    ];
  },
};

function byKey(all: readonly Blocked[]): ReadonlyMap<string, readonly Blocked[]> {
  const groups = new Map<string, Blocked[]>();
  for (const one of all) groups.set(key(one), [...(groups.get(key(one)) ?? []), one]);
  return groups;
}
