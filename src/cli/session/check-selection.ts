import { CHECK_NAMES } from '../../inventory/check-names.ts';
import type { Inventory } from '../../model/inventory.ts';
import { unknownCheck } from '../../inventory/messages.ts';
import { nearest } from '../../inventory/nearest.ts';
import { selects } from '../../topology/select.ts';
import { UsageError } from '../../errors.ts';
import { UP_PHASES } from '../../phases/names.ts';
import type { Flags } from '../options.ts';

/** How many names a message lists at most. */
const LISTED = 10;

const listed = (names: readonly string[]): string =>
  names.length > LISTED
    ? `${names.slice(0, LISTED).join(', ')} and ${String(names.length - LISTED)} more`
    : names.join(', ');

/** @throws UsageError for an empty list, and for the first pattern that matches none of the names. */
function checkPatterns(
  flag: string,
  what: string,
  patterns: readonly string[] | undefined,
  names: readonly string[],
): void {
  if (patterns === undefined) return;
  const nothing = 'nothing was done, and no host was contacted';
  if (patterns.length === 0)
    throw new UsageError(`${flag}: the list is empty; ${nothing}`, {
      remedy: `name at least one ${what}, or leave ${flag} out`,
    });
  const unknown = patterns.find((pattern) => !names.some((name) => selects([pattern], name)));
  if (unknown === undefined) return;
  const meant = nearest(unknown.replaceAll('*', ''), names);
  throw new UsageError(`${flag}: "${unknown}" matches no ${what}; ${nothing}`, {
    remedy: meant === undefined ? `there are ${listed(names)}` : `did you mean "${meant}"?`,
  });
}

/** The patterns of `--hosts` with the names of hosts in the place of groups: nothing below knows of groups. */
export const withoutGroups = <F extends Pick<Flags, 'hosts'>>({ hosts }: Inventory, flags: F): F => {
  if (flags.hosts === undefined) return flags;
  const named = flags.hosts.flatMap((pattern) => {
    const members = hosts.filter(({ groups }) => groups.some((group) => selects([pattern], group)));
    const isOfHosts = members.length === 0 || hosts.some(({ name }) => selects([pattern], name));
    return [...(isOfHosts ? [pattern] : []), ...members.map(({ name }) => name)];
  });
  return { ...flags, hosts: [...new Set(named)] };
};

/**
 * Checks the values of `--hosts`, `--phase` and `--ignore-check` before any host is contacted: a typing error must not end as
 * a success. @throws UsageError
 */
export function checkSelection({ hosts }: Inventory, { hosts: patterns, phase, ignoreCheck }: Flags): void {
  checkPatterns('--hosts', 'host or group of the inventory', patterns, [
    ...new Set([...hosts.map(({ name }) => name), ...hosts.flatMap(({ groups }) => groups)]),
  ]);
  checkPatterns('--phase', 'phase', phase, UP_PHASES);
  const unknown = ignoreCheck?.find((name) => !(CHECK_NAMES as readonly string[]).includes(name));
  if (unknown !== undefined) throw new UsageError(`--ignore-check: ${unknownCheck(unknown)}`);
}
