import type { Check } from './check.ts';
import { othersOf, sharedValues } from './shared-value.ts';

/** The DMI product UUID is unique, as Kubernetes' install guide asks. A machine without DMI has none, which is fine. */
export const productUuid: Check = {
  name: 'product-uuid',
  title: 'the DMI product UUID is unique',
  why: `Kubernetes' install guide asks for it. Most hypervisors give a clone a UUID of its own. A machine without DMI has none, which is fine.`,
  severities: ['error'],
  test: ({ fleet }) => {
    const { shared, unknown } = sharedValues(fleet, ({ productUuid: uuid }) => (uuid === 'absent' ? [] : [uuid]));
    return [
      ...unknown,
      ...shared.flatMap(({ value, hosts }) =>
        hosts.map(({ host }) => ({
          severity: 'error' as const,
          host: host.name,
          message: `has the product UUID ${value} in common with ${othersOf(hosts, host.name)}`,
          remedy: 'give each virtual machine a UUID of its own (most hypervisors do when they clone)',
        })),
      ),
    ];
  },
};
