import type { Check } from './check.ts';
import { findingsOf, sharedValues } from './unique-value.ts';

export const uniqueHost: Check = {
  name: 'unique-host',
  title: 'every host is a machine of its own, with a machine-id of its own',
  why: `Machines that were cloned share \`/etc/machine-id\`, and with it DHCP leases and names of network interfaces. On each copy: \`mv /etc/machine-id /root/\`, \`systemd-machine-id-setup\`, reboot.`,
  severities: ['error'],
  test: ({ fleet }) => {
    // Containers share the boot id of their kernel, clones the machine-id: only one machine has both.
    const boots = sharedValues(fleet, ({ bootId, machineId }) => [`${bootId} ${machineId}`]);
    const ids = sharedValues(fleet, ({ machineId }) => (machineId === 'absent' ? [] : [machineId]));
    const twice = new Set(boots.shared.flatMap(({ hosts }) => hosts.map(({ host }) => host.name)));
    const clones = ids.shared.filter(({ hosts }) => !hosts.every(({ host }) => twice.has(host.name)));
    return [
      ...boots.unknown,
      ...boots.shared.map(({ hosts: [first, ...others] }) => ({
        severity: 'error' as const,
        host: first!.host.name,
        message: `is the same machine as ${others.map(({ host }) => host.name).join(', ')}`,
        remedy: 'correct the addresses in the inventory',
      })),
      ...clones.flatMap((group) =>
        findingsOf(group, {
          message: (value, others) => `has the machine-id ${value} in common with ${others}`,
          remedy: 'on each copy: mv /etc/machine-id /root/, systemd-machine-id-setup, reboot',
        }),
      ),
    ];
  },
};
