import { uniqueValue } from './unique-value.ts';
import { isVirtualInterface } from './virtual-interfaces.ts';

/** Addresses that each host has for itself: loopback and link-local. */
const LOCAL = /^(?:127[.]|169[.]254[.]|::1$|fe80:)/;

export const uniqueAddress = uniqueValue(
  {
    name: 'unique-address',
    title: 'no two hosts have an IP address in common',
    why: 'Connections then reach sometimes one machine and sometimes the other. Addresses of bridges that are the same everywhere (Docker, libvirt) are left out, and the virtual address of the load balancer, which belongs to no host (check `virtual-address`).',
    severities: ['error'],
  },
  ({ interfaces }, { loadBalancer }) => {
    const virtual = 'address' in loadBalancer ? loadBalancer.address : undefined;
    return interfaces.flatMap(({ name, addresses }) =>
      isVirtualInterface(name) ? [] : addresses.filter((address) => !LOCAL.test(address) && address !== virtual),
    );
  },
  {
    message: (value, others) => `has the address ${value} in common with ${others}`,
    remedy: 'give one of them another address',
  },
);
