import { nearest } from '../nearest.ts';
import type { Path } from '../path.ts';
import type { InventoryFile } from '../schema.ts';
import { asList, selected } from '../selector.ts';
import { problem, type Rule, type Violation } from './rule.ts';

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
        `no host is meant by ${JSON.stringify(selector)}; use "all", a role, a group, a name or a pattern with "*"${meant === undefined ? '' : `; did you mean "${meant}"?`}`,
      ),
    ];
  });

/** Every hook about hosts means at least one. */
export const hooksMeanHosts: Rule = (file) =>
  (['beforeChange', 'beforeDrain', 'afterUncordon'] as const).flatMap((name) =>
    file.hooks[name].flatMap(({ hosts }, i) => unmeant(file, ['hooks', name, i, 'hosts'], hosts)),
  );
