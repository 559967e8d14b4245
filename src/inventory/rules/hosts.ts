import { isIP, isIPv4 } from 'node:net';
import type { HostEntry, InventoryFile } from '../schema.ts';
import { problem, repeated, warning, type Rule } from './rule.ts';

/** Names that mean something else in a selector of hosts. */
export const RESERVED: readonly string[] = ['all', 'control-plane', 'worker', 'etcd', 'load-balancer', 'localhost'];

/** The IPv4 address at which Kubernetes listens on a host; undefined if the entry has none. */
export const internalAddressOf = ({ internalAddress, address }: HostEntry): string | undefined =>
  internalAddress ?? (isIPv4(address) ? address : undefined);

/** Where SSH reaches a host. */
const login = ({ ssh }: InventoryFile, host: HostEntry): string =>
  `${host.address} port ${host.ssh.port ?? ssh.port ?? 22}`;

/** Host names are unique, and none has a reserved meaning. */
export const hostNames: Rule = ({ hosts }) => [
  ...repeated(hosts, ({ name }) => name).map(({ index, key }) =>
    problem(['hosts', index, 'name'], `another host is named "${key}" already; names are unique`),
  ),
  ...hosts.flatMap(({ name }, i) => {
    if (RESERVED.includes(name))
      return [problem(['hosts', i, 'name'], `"${name}" has a meaning of its own; choose another name`)];
    if (isIP(name) !== 0) return [problem(['hosts', i, 'name'], 'is an address; give the host a name')];
    return [];
  }),
];

/** No two entries are the same machine. */
export const hostAddresses: Rule = (file) => [
  ...repeated(file.hosts, (host) => login(file, host)).map(({ index, first, key }) =>
    problem(
      ['hosts', index, 'address'],
      `${key} is "${file.hosts[first]!.name}" already; every host has its own address`,
    ),
  ),
  ...repeated(file.hosts, internalAddressOf).flatMap(({ index, first, key }) =>
    file.hosts[index]!.internalAddress === undefined &&
    login(file, file.hosts[index]!) === login(file, file.hosts[first]!)
      ? []
      : [
          problem(
            ['hosts', index, file.hosts[index]!.internalAddress === undefined ? 'address' : 'internalAddress'],
            `Kubernetes listens at ${key} on "${file.hosts[first]!.name}" already; every host needs its own internalAddress`,
          ),
        ],
  ),
];

/** Kubernetes has an IPv4 address to listen at, which others can reach. */
export const internalAddresses: Rule = ({ hosts }) =>
  hosts.flatMap((host, i) => {
    const ip = internalAddressOf(host);
    if (ip === undefined)
      return [
        problem(
          ['hosts', i, 'internalAddress'],
          'is required where address is no IPv4 address: the IPv4 address at which Kubernetes listens',
        ),
      ];
    const first = Number(ip.split('.')[0]);
    return first === 0 || first === 127 || first >= 224
      ? [
          problem(
            ['hosts', i, host.internalAddress === undefined ? 'address' : 'internalAddress'],
            `other hosts cannot reach ${ip}; set internalAddress to an address of the host that they can`,
          ),
        ]
      : [];
  });

/** Roles and systems that this version builds. */
export const supportedHosts: Rule = ({ hosts }) =>
  hosts.flatMap(({ os, role }, i) => {
    if (os === 'windows' && role !== 'worker')
      return [problem(['hosts', i, 'os'], 'a Windows host can only be a worker')];
    return [];
  });

/**
 * An even number of control planes tolerates no more failures than one less, because of the etcd members on them. Beside an
 * etcd of its own a single API server is enough: two of them survive the loss of one.
 */
export const controlPlaneCount: Rule = ({ hosts, etcd }) => {
  const count = hosts.filter(({ role }) => role === 'control-plane').length;
  return etcd.topology === 'stacked' && count > 1 && count % 2 === 0
    ? [
        warning(
          ['hosts'],
          `${count} control planes survive the loss of ${count / 2 - 1}, no more than ${count - 1} would; use an odd number`,
        ),
      ]
    : [];
};

/** Warns about an even number of etcd members, which tolerates no more failures than one less. */
export const etcdCount: Rule = ({ hosts }) => {
  const count = hosts.filter(({ role }) => role === 'etcd').length;
  return count > 0 && count % 2 === 0
    ? [
        warning(
          ['hosts'],
          `${count} etcd members survive the loss of ${count / 2 - 1}, no more than ${count - 1} would; use 1, 3 or 5`,
        ),
      ]
    : [];
};

/** At least one host is a control plane. Checked only if the whole inventory could be read. */
export const someControlPlane: Rule = ({ hosts }) =>
  hosts.some(({ role }) => role === 'control-plane')
    ? []
    : [problem(['hosts'], 'there is no control plane; give one host "role: control-plane"')];

/** Labels and taints need a Node object, which hosts with only etcd or a load balancer do not have. */
export const nodeSettings: Rule = ({ hosts }) =>
  hosts.flatMap(({ role, labels, taints }, i) =>
    role === 'etcd' || role === 'load-balancer'
      ? [...(Object.keys(labels).length > 0 ? ['labels'] : []), ...(taints === undefined ? [] : ['taints'])].map(
          (key) => problem(['hosts', i, key], `are of nodes, and a host of role ${role} is none: remove them`),
        )
      : [],
  );
