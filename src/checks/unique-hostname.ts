import type { Check } from './check.ts';
import { othersOf, sharedValues } from './shared-value.ts';

/** Every host has a hostname of its own. */
export const uniqueHostname: Check = {
  name: 'unique-hostname',
  title: 'every host has a hostname of its own',
  why: 'Two machines that call themselves the same are told apart by nobody who reads logs, and programs that register by hostname replace each other. Set `setHostname: true`, or rename one with `hostnamectl`.',
  severities: ['error', 'due'],
  test: ({ fleet }) => {
    const { shared, unknown } = sharedValues(fleet, ({ hostname }) => [hostname]);
    return [
      ...unknown,
      ...shared.flatMap(({ value, hosts }) =>
        hosts.map(({ host }) => ({
          // `up` renames what is to be renamed.
          severity: hosts.every((one) => one.host.setHostname) ? ('due' as const) : ('error' as const),
          host: host.name,
          message: `calls itself ${value}, and so does ${othersOf(hosts, host.name)}`,
          remedy: 'hostnamectl set-hostname NAME on one of them, or setHostname: true in the inventory',
        })),
      ),
    ];
  },
};
