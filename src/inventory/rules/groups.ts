import { nearest } from '../nearest.ts';
import { RESERVED } from './hosts.ts';
import { problem, repeated, warning, type Rule } from './rule.ts';

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
              `"${name}" has ${key}, which are of nodes, and a host of role ${role} is none: take the host out of the group`,
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
