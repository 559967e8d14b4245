import type { Check } from './check.ts';
import { sharedValues } from './shared-value.ts';

/** Every host of the inventory is a machine of its own, with a machine-id of its own. */
export const uniqueHost: Check = {
  name: 'unique-host',
  title: 'every host is a machine of its own, with a machine-id of its own',
  why: `Machines that were cloned share \`/etc/machine-id\`, and with it DHCP leases and names of network interfaces. On each copy: \`mv /etc/machine-id /root/\`, \`systemd-machine-id-setup\`, reboot.`,
  severities: ['error'],
  test: ({ fleet }) => {
    // Containers have the boot id of their kernel in common, copies the machine-id: only one machine has both.
    const boots = sharedValues(fleet, ({ bootId, machineId }) => [`${bootId} ${machineId}`]);
    const ids = sharedValues(fleet, ({ machineId }) => (machineId === 'absent' ? [] : [machineId]));
    const twice = new Set(boots.shared.flatMap(({ hosts }) => hosts.map(({ host }) => host.name)));
    const names = (hosts: readonly { readonly host: { readonly name: string } }[]) =>
      hosts.map(({ host }) => host.name);
    return [
      ...boots.unknown,
      ...boots.shared.map(({ hosts }) => ({
        severity: 'error' as const,
        host: hosts[0]!.host.name,
        message: `is the same machine as ${names(hosts.slice(1)).join(', ')}`,
        remedy: 'correct the addresses in the inventory',
      })),
      ...ids.shared.flatMap(({ value, hosts }) =>
        hosts.every(({ host }) => twice.has(host.name))
          ? []
          : hosts.map(({ host }) => ({
              severity: 'error' as const,
              host: host.name,
              message: `has the machine-id ${value} in common with ${names(hosts)
                .filter((name) => name !== host.name)
                .join(', ')}`,
              remedy: 'on each copy: mv /etc/machine-id /root/, systemd-machine-id-setup, reboot',
            })),
      ),
    ];
  },
};
