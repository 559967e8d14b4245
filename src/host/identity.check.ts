import { type Fleet, type Kinds, observedLinux } from '../cluster/fleet/fleet.ts';
import { type Check, type CheckGroup, type CheckPage, eachHost, type Finding, unknown } from '../engine/check.ts';
import { FactError } from '../errors.ts';
import { addressesOf, type Family, familyOf } from '../inventory/addresses.ts';
import type { Inventory } from '../inventory/inventory.ts';
import { isPluginInterface } from '../network/plugins.value.ts';

type LinuxFacts = Kinds['linux']['facts'];

/**
 * Interfaces of software (bridges, tunnels, pods): their addresses are the same on many hosts, and mean nothing outside
 * of the host. An address on a VXLAN that is not a network plugin's may connect hosts, and counts.
 */
const VIRTUAL = /^(?:lo|docker|br-|veth|virbr|lxcbr|lxdbr|podman|cni|tun|tap|kube-|nodelocaldns)/;

/** True for the name of an interface that no other host reaches. */
export const isVirtualInterface = (name: string): boolean => VIRTUAL.test(name) || isPluginInterface(name);

/** Addresses that each host has for itself: loopback and link-local. */
const LOCAL = /^(?:127[.]|169[.]254[.]|::1$|fe80:)/;

/** Of a host's own addresses, those that may take the place of an internalAddress of a family. */
const usableAddresses = ({ interfaces }: LinuxFacts, family: Family): readonly string[] =>
  interfaces
    .filter(({ name }) => !isVirtualInterface(name))
    .flatMap(({ addresses, unsteady = {} }) => addresses.filter((address) => !(address in unsteady)))
    .filter((address) => familyOf(address) === family && !LOCAL.test(address));

const addressOnHost = eachHost(
  {
    name: 'address-on-host',
    title: 'the internalAddress is an address of the host',
    why:
      'The API server, etcd and the kubelet bind or announce it. A public address of a cloud is often translated ' +
      'and not on the machine: then set `internalAddress` to the private one. IPv6 addresses that are temporary, ' +
      'deprecated or not yet proved to be unique (tentative, dadfailed) are refused: the host does not keep them.',
    severities: ['error'],
  },
  ({ host, facts }) => {
    const all = facts.interfaces.flatMap(({ addresses }) => addresses);
    const own = addressesOf(host);
    const unsteady = facts.interfaces.flatMap(({ unsteady: flags = {} }) =>
      own.flatMap((address) => (address in flags ? [`${address} is ${flags[address]!}`] : [])),
    );
    const lost = own.filter((address) => !all.includes(address));
    if (lost.length === 0)
      return unsteady.map((message) => ({
        severity: 'error' as const,
        message,
        remedy: 'set internalAddress to an address that the host keeps, e.g. one that its configuration gives it',
      }));
    return lost.map((address) => {
      const family = familyOf(address);
      const usable = usableAddresses(facts, family);
      return {
        severity: 'error',
        message: `${address} is not an address of the host`,
        remedy:
          usable.length === 0
            ? `give the host an ${family} address that other hosts reach, and set internalAddress to it`
            : `set internalAddress to one that is: ${usable.join(', ')}`,
      };
    });
  },
);

/** Hosts that have a value in common. */
interface Shared {
  readonly value: string;
  readonly hosts: readonly Kinds['linux'][];
}

/** The texts of a finding about a host that has a value in common with `others`. */
interface SharedWords {
  readonly message: (value: string, others: string) => string;
  readonly remedy: string;
  /** Default `error`. */
  readonly severity?: (hosts: Shared['hosts']) => 'error' | 'due';
}

/** How many other hosts a finding names. */
const NAMED = 10;

function othersOf(hosts: Shared['hosts'], name: string): string {
  // Stops early: all hosts of a large fleet may share a value, and each lists the others.
  const first: string[] = [];
  for (const { host } of hosts) {
    if (first.length === NAMED) break;
    if (host.name !== name) first.push(host.name);
  }
  const more = hosts.length - 1 - first.length;
  return `${first.join(', ')}${more === 0 ? '' : ` and ${String(more)} more`}`;
}

/**
 * Groups of two and more hosts that share one of the values of `read`, and a finding for each host whose fact is
 * unknown.
 */
function sharedValues(
  fleet: Fleet,
  read: (facts: LinuxFacts) => readonly string[],
): { readonly shared: readonly Shared[]; readonly unknown: readonly Finding[] } {
  const groups = new Map<string, Kinds['linux'][]>();
  const unknowns: Finding[] = [];
  for (const observed of observedLinux(fleet)) {
    try {
      for (const value of new Set(read(observed.facts))) {
        const group = groups.get(value);
        if (group === undefined) groups.set(value, [observed]);
        else group.push(observed);
      }
    } catch (error) {
      if (!(error instanceof FactError)) throw error;
      unknowns.push(unknown(error));
    }
  }
  const shared = [...groups].flatMap(([value, hosts]) => (hosts.length > 1 ? [{ value, hosts }] : []));
  return { shared, unknown: unknowns };
}

/** A finding for each of the hosts that share a value. */
const findingsOf = (
  { value, hosts }: Shared,
  { message, remedy, severity = () => 'error' }: SharedWords,
): readonly Finding[] =>
  hosts.map(({ host }) => ({
    severity: severity(hosts),
    host: host.name,
    message: message(value, othersOf(hosts, host.name)),
    remedy,
  }));

/** A check that no two Linux hosts have one of the values of `read` in common. */
const uniqueValue = (
  page: CheckPage,
  read: (facts: LinuxFacts, inventory: Inventory) => readonly string[],
  words: SharedWords,
): Check => ({
  ...page,
  test: ({ inventory, fleet }) => {
    const { shared, unknown } = sharedValues(fleet, (facts) => read(facts, inventory));
    return [...unknown, ...shared.flatMap((group) => findingsOf(group, words))];
  },
});

const productUuid = uniqueValue(
  {
    name: 'product-uuid',
    title: 'the DMI product UUID is unique',
    why:
      "Kubernetes' install guide asks for it. Most hypervisors give a clone a UUID of its own. A machine without " +
      'DMI has none, which is fine.',
    severities: ['error'],
  },
  ({ productUuid: uuid }) => (uuid === 'absent' ? [] : [uuid]),
  {
    message: (value, others) => `has the product UUID ${value} in common with ${others}`,
    remedy: 'give each virtual machine a UUID of its own (most hypervisors do when they clone)',
  },
);

const uniqueAddress = uniqueValue(
  {
    name: 'unique-address',
    title: 'no two hosts have an IP address in common',
    why:
      'Connections then reach sometimes one machine and sometimes the other. Addresses of bridges that are the ' +
      'same everywhere (Docker, libvirt) are left out, and the virtual address of the load balancer, which ' +
      'belongs to no host (check `virtual-address`).',
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

const uniqueHost: Check = {
  name: 'unique-host',
  title: 'every host is a machine of its own, with a machine-id of its own',
  why:
    'Machines that were cloned share `/etc/machine-id`, and with it DHCP leases and names of network ' +
    'interfaces. On each copy: `mv /etc/machine-id /root/`, `systemd-machine-id-setup`, reboot.',
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

const uniqueHostname = uniqueValue(
  {
    name: 'unique-hostname',
    title: 'every host has a hostname of its own',
    why:
      'In logs, two machines of one name cannot be told apart, and programs that register by hostname replace ' +
      'each other. Set `setHostname: true`, or rename one with `hostnamectl`.',
    severities: ['error', 'due'],
  },
  ({ hostname }) => [hostname],
  {
    message: (value, others) => `calls itself ${value}, and so does ${others}`,
    remedy: 'hostnamectl set-hostname NAME on one of them, or setHostname: true in the inventory',
    // `up` renames the hosts then.
    severity: (hosts) => (hosts.every(({ host }) => host.setHostname) ? 'due' : 'error'),
  },
);

/** Of interfaces that have no MAC address. */
const NONE = /^(?:00:){5}00$|^$/;

/** Packets of these leave under the MAC address of another interface: an operator may give all hosts the same. */
const isLeftOut = (name: string): boolean => isVirtualInterface(name) || /^(?:vxlan|dummy)/.test(name);

const uniqueMac = uniqueValue(
  {
    name: 'unique-mac',
    title: 'no two hosts have a MAC address in common',
    why:
      "Clones that kept the MAC address of their origin steal each other's packets. Let the hypervisor make a " +
      'new one. Interfaces of software (bridges, tunnels) are left out.',
    severities: ['error'],
  },
  ({ interfaces }) => interfaces.flatMap(({ name, mac }) => (isLeftOut(name) || NONE.test(mac) ? [] : [mac])),
  {
    message: (value, others) => `has the MAC address ${value} in common with ${others}`,
    remedy: 'give each virtual machine a MAC address of its own',
  },
);

const unnamed: Check = {
  name: 'unnamed',
  title: 'every node of the cluster, and every member of an etcd beside it, is a host of the inventory',
  why:
    '`up` does not remove a node that the inventory no longer names. Run `kbuild remove NAME`, or name the host ' +
    'again.',
  severities: ['warning'],
  test: ({ inventory, fleet: { cluster } }) => {
    const named = new Set(inventory.hosts.map(({ name }) => name));
    const nodes =
      cluster.state === 'up' ? cluster.nodes.map(({ name }) => ({ name, what: 'a node of the cluster' })) : [];
    const members =
      cluster.etcd?.state === 'up'
        ? cluster.etcd.members.map(({ name }) => ({ name, what: 'a member of its etcd' }))
        : [];
    return [...nodes, ...members]
      .filter(({ name }) => name !== '' && !named.has(name))
      .map(({ name, what }) => ({
        severity: 'warning' as const,
        host: name,
        message: `is ${what}, and the inventory does not name it`,
        remedy: `kbuild remove ${name}, or name it in the inventory again`,
      }));
  },
};

export const identityChecks: CheckGroup = {
  fleet: [uniqueHost, productUuid, uniqueHostname, uniqueMac, uniqueAddress, addressOnHost, unnamed],
};
