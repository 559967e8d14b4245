import { uniqueValue } from './unique-value.ts';
import { isVirtualInterface } from './virtual-interfaces.ts';

/** Of interfaces that have no MAC address. */
const NONE = /^(?:00:){5}00$|^$/;

/** Packets of these leave under the MAC address of another interface: an operator may give all hosts the same. */
const isLeftOut = (name: string): boolean => isVirtualInterface(name) || /^(?:vxlan|dummy)/.test(name);

export const uniqueMac = uniqueValue(
  {
    name: 'unique-mac',
    title: 'no two hosts have a MAC address in common',
    why: "Clones that kept the MAC address of their origin steal each other's packets. Let the hypervisor make a new one. Interfaces of software (bridges, tunnels) are left out.",
    severities: ['error'],
  },
  ({ interfaces }) => interfaces.flatMap(({ name, mac }) => (isLeftOut(name) || NONE.test(mac) ? [] : [mac])),
  {
    message: (value, others) => `has the MAC address ${value} in common with ${others}`,
    remedy: 'give each virtual machine a MAC address of its own',
  },
);
