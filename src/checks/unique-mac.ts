import type { LinuxFacts } from '../facts/linux.ts';
import type { Check } from './check.ts';
import { othersOf, sharedValues } from './shared-value.ts';

/** Interfaces of software: their addresses mean nothing outside the host. */
const VIRTUAL =
  /^(?:lo|docker|br-|veth|virbr|lxcbr|lxdbr|podman|cni|flannel|cali|vxlan|tun|tap|kube-|dummy|nodelocaldns)/;

/** MAC addresses of a host's interfaces to the outside. */
const macs = ({ interfaces }: Pick<LinuxFacts, 'interfaces'>): readonly string[] =>
  interfaces.flatMap(({ name, mac }) => (VIRTUAL.test(name) || /^(?:00:){5}00$|^$/.test(mac) ? [] : [mac]));

/** No MAC address is there twice: Kubernetes' install guide asks for it. */
export const uniqueMac: Check = {
  name: 'unique-mac',
  title: 'no two hosts have a MAC address in common',
  why: "Clones that kept the MAC address of their origin steal each other's packets. Let the hypervisor make a new one. Interfaces of software (bridges, tunnels) are left out.",
  severities: ['error'],
  test: ({ fleet }) => {
    const { shared, unknown } = sharedValues(fleet, (facts) => [...new Set(macs(facts))]);
    return [
      ...unknown,
      ...shared.flatMap(({ value, hosts }) =>
        hosts.map(({ host }) => ({
          severity: 'error' as const,
          host: host.name,
          message: `has the MAC address ${value} in common with ${othersOf(hosts, host.name)}`,
          remedy: 'give each virtual machine a MAC address of its own',
        })),
      ),
    ];
  },
};
