import type { Blocked } from '../surveys/port-matrix.ts';
import type { Check } from './check.ts';

const key = ({ way, how }: Blocked): string => `${way.to.name} ${way.protocol} ${String(way.port)} ${how}`;

/** Every port that a role needs is reached by every host that needs it. */
export const portMatrix: Check = {
  name: 'port-matrix',
  title: 'every port of every role is reached by the hosts that need it',
  why: 'A survey (`check --active`, and before the first change of fresh hosts): kbuild listens on every needed port that is free, TCP and the overlay\'s UDP, and connects from every host that will. "refused" comes from a firewall that rejects, "no answer" from one that drops, on the host or between the hosts (security groups).',
  severities: ['error'],
  test: ({ fleet: { surveys } }) => {
    if (surveys === undefined) return [];
    const groups = byKey(surveys.ports.blocked);
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
    ];
  },
};

function byKey(all: readonly Blocked[]): ReadonlyMap<string, readonly Blocked[]> {
  const groups = new Map<string, Blocked[]>();
  for (const one of all) groups.set(key(one), [...(groups.get(key(one)) ?? []), one]);
  return groups;
}
