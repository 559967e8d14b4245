import { nearest } from '../../../shell/text.ts';
import { isIP } from '../../addresses.ts';
import { type Path, problem, repeated, type Rule, type Violation, warning } from '../../schema/rule.ts';
import type { HostEntry, InventoryFile } from '../../schema/schema.ts';
import { asList, selected } from '../levels.ts';

/** Names that mean something else in a selector of hosts. */
const RESERVED: readonly string[] = ['all', 'control-plane', 'worker', 'etcd', 'load-balancer', 'localhost'];

/** Where SSH reaches a host. */
export const login = ({ ssh }: InventoryFile, host: HostEntry): string =>
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
export const hostLogins: Rule = (file) =>
  repeated(file.hosts, (host) => login(file, host)).map(({ index, first, key }) =>
    problem(
      ['hosts', index, 'address'],
      `${key} is "${file.hosts[first]!.name}" already; every host has its own address`,
    ),
  );

/** Roles and systems that this version builds. */
export const supportedHosts: Rule = ({ hosts }) =>
  hosts.flatMap(({ os, role }, i) => {
    if (os === 'windows' && role !== 'worker')
      return [problem(['hosts', i, 'os'], 'a Windows host can only be a worker')];
    return [];
  });

/**
 * An even number of control planes tolerates no more failures than one less, because of the etcd members on them.
 * Beside an etcd of its own a single API server is enough: two of them survive the loss of one.
 */
export const controlPlaneCount: Rule = ({ hosts, etcd }) => {
  const count = hosts.filter(({ role }) => role === 'control-plane').length;
  return etcd.topology === 'stacked' && count > 1 && count % 2 === 0
    ? [
        warning(
          ['hosts'],
          `${count} control planes may lose ${count / 2 - 1}, and so may ${count - 1}: one more costs a host and ` +
            'makes nothing safer; use an odd number',
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
          `${count} etcd members may lose ${count / 2 - 1}, and so may ${count - 1}: one more costs a host and ` +
            'makes nothing safer; use 1, 3 or 5',
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

/** A selector means one thing: no group has the name of a role or of a host. */
export const groupNames: Rule = ({ groups, hosts }) =>
  Object.keys(groups).flatMap((name) => {
    const at = ['groups', name];
    if (RESERVED.includes(name)) return [problem(at, `"${name}" has a meaning of its own; choose another name`)];
    return hosts.some((host) => host.name === name)
      ? [problem(at, `a host is named "${name}", too; choose another name for the group`)]
      : [];
  });

/** Labels and taints of a group need a Node object, which hosts with only etcd or a load balancer do not have. */
export const groupsOfNodes: Rule = ({ groups, hosts }) =>
  hosts.flatMap(({ role, groups: named }, i) =>
    role === 'etcd' || role === 'load-balancer'
      ? named.flatMap((name, j) => {
          const group = Object.hasOwn(groups, name) ? groups[name] : undefined;
          const ofNodes = [
            ...(Object.keys(group?.labels ?? {}).length > 0 ? ['labels'] : []),
            ...(group?.taints === undefined ? [] : ['taints']),
          ];
          return ofNodes.map((key) =>
            problem(
              ['hosts', i, 'groups', j],
              `"${name}" has ${key}, which are of nodes, and a host of role ${role} is none: take the host out ` +
                'of the group',
            ),
          );
        })
      : [],
  );

/** Every group that a host names exists, and is named once. Checked only if the whole inventory could be read. */
export const knownGroups: Rule = ({ groups, hosts }) =>
  hosts.flatMap(({ groups: named }, i) => [
    ...repeated(named, (name) => name).map(({ index }) =>
      problem(['hosts', i, 'groups', index], 'is named above already; remove it'),
    ),
    ...named.flatMap((name, j) => {
      if (Object.hasOwn(groups, name)) return [];
      const known = Object.keys(groups);
      const meant = nearest(name, known);
      const remedy =
        meant !== undefined
          ? `did you mean "${meant}"?`
          : known.length === 0
            ? `add it: groups: { ${name}: {} }`
            : `there are ${known.join(', ')}`;
      return [problem(['hosts', i, 'groups', j], `there is no group "${name}"; ${remedy}`)];
    }),
  ]);

/** Warns about a group that no host names. Checked only if the whole inventory could be read. */
export const usedGroups: Rule = ({ groups, hosts }) =>
  Object.keys(groups)
    .filter((name) => !hosts.some(({ groups: named }) => named.includes(name)))
    .map((name) =>
      warning(['groups', name], `no host is in this group; add "groups: [${name}]" to a host, or remove the group`),
    );

/** A problem for each selector of a list, or for the one selector, that means no host. */
export const unmeant = (
  { hosts, groups }: Pick<InventoryFile, 'hosts' | 'groups'>,
  at: Path,
  selectors: string | readonly string[],
): readonly Violation[] =>
  asList(selectors).flatMap((selector, i) => {
    if (selected(hosts, selector).length > 0) return [];
    const meant = nearest(selector, [
      ...['all', 'control-plane', 'worker', 'etcd', 'load-balancer'],
      ...Object.keys(groups),
      ...hosts.map(({ name }) => name),
    ]);
    return [
      problem(
        typeof selectors === 'string' ? at : [...at, i],
        `no host is meant by ${JSON.stringify(selector)}; use "all", a role, a group, a name or a pattern with ` +
          `"*"${meant === undefined ? '' : `; did you mean "${meant}"?`}`,
      ),
    ];
  });

/** Every hook about hosts means at least one. */
export const hooksMeanHosts: Rule = (file) =>
  (['beforeChange', 'beforeDrain', 'afterUncordon'] as const).flatMap((name) =>
    file.hooks[name].flatMap(({ hosts }, i) => unmeant(file, ['hooks', name, i, 'hosts'], hosts)),
  );
