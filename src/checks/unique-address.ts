import type { Check } from './check.ts';
import { othersOf, sharedValues } from './shared-value.ts';

const OWN = /^(?:127[.]|169[.]254[.]|::1$|fe80:)/;
const VIRTUAL = /^(?:lo|docker|br-|veth|virbr|lxcbr|lxdbr|podman|cni|flannel|cali|tun|tap|kube-|nodelocaldns)/;

/** No address of a network that hosts have in common is there twice. */
export const uniqueAddress: Check = {
  name: 'unique-address',
  title: 'no two hosts have an IP address in common',
  why: 'Connections then reach sometimes one machine and sometimes the other. Addresses of bridges that are the same everywhere (Docker, libvirt) are left out, and the virtual address of the load balancer, which belongs to no host (check `virtual-address`).',
  severities: ['error'],
  test: ({ inventory: { loadBalancer }, fleet }) => {
    const virtual = 'address' in loadBalancer ? loadBalancer.address : undefined;
    const { shared, unknown } = sharedValues(fleet, ({ interfaces }) => [
      ...new Set(
        interfaces.flatMap(({ name, addresses }) =>
          VIRTUAL.test(name) ? [] : addresses.filter((address) => !OWN.test(address) && address !== virtual),
        ),
      ),
    ]);
    return [
      ...unknown,
      ...shared.flatMap(({ value, hosts }) =>
        hosts.map(({ host }) => ({
          severity: 'error' as const,
          host: host.name,
          message: `has the address ${value} in common with ${othersOf(hosts, host.name)}`,
          remedy: 'give one of them another address',
        })),
      ),
    ];
  },
};
