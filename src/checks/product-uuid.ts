import type { Check } from './check.ts';
import { sharedValues } from './shared-value.ts';

/** The DMI product UUID is unique, as Kubernetes' install guide asks. A machine without DMI has none, which is fine. */
export const productUuid: Check = {
  name: 'product-uuid',
  test: ({ fleet }) => {
    const { shared, unknown } = sharedValues(fleet, ({ productUuid: uuid }) => (uuid === 'absent' ? undefined : uuid));
    return [
      ...unknown,
      ...shared.flatMap(({ value, hosts }) =>
        hosts.map(({ host }) => ({
          severity: 'error' as const,
          host: host.name,
          message: `has the product UUID ${value} in common with ${others(hosts, host.name)}`,
          remedy: 'give each virtual machine a UUID of its own (most hypervisors do when they clone)',
        })),
      ),
    ];
  },
};

const others = (hosts: readonly { readonly host: { readonly name: string } }[], name: string): string =>
  hosts.flatMap(({ host }) => (host.name === name ? [] : [host.name])).join(', ');
