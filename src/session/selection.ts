import type { Fleet } from '../cluster/fleet/fleet.ts';
import { deadMembers, deadReasons, quorumIsLost } from '../cluster/member-host.ts';
import { refusedFor } from '../cluster/reasons.ts';
import { stillThere, type StillThere } from '../cluster/removal.ts';
import { checkNames } from '../commands/every.checks.ts';
import { hasRemedy, type KbuildError, mayBeGone, Refused, SeveralErrors, throwAll, UsageError } from '../errors.ts';
import { unknownCheck } from '../inventory/file/unknown-names.ts';
import { selects } from '../inventory/hosts.ts';
import type { Host, Inventory } from '../inventory/inventory.ts';
import { quote } from '../shell/sh.ts';
import { nearest } from '../shell/text.ts';
import { until } from '../wait.ts';
import { UP_PHASES } from './command.ts';
import type { Flags } from './options.ts';
import type { Run, RunOptions } from './run.ts';

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
 * Checks the values of `--hosts`, `--phase` and `--ignore-check` before any host is contacted: a typing error must not
 * end as a success. @throws UsageError
 */
export function checkSelection({ hosts }: Inventory, { hosts: patterns, phase, ignoreCheck }: Flags): void {
  checkPatterns('--hosts', 'host or group of the inventory', patterns, [
    ...new Set([...hosts.map(({ name }) => name), ...hosts.flatMap(({ groups }) => groups)]),
  ]);
  checkPatterns('--phase', 'phase', phase, UP_PHASES);
  const unknown = ignoreCheck?.find((name) => !checkNames.includes(name));
  if (unknown !== undefined) throw new UsageError(`--ignore-check: ${unknownCheck(unknown, checkNames)}`);
}

/** Called before any host is contacted. @throws UsageError for a name in `--dead` that the inventory does not have. */
export function checkDeadNames(
  inventory: Inventory,
  { dead }: Flags,
  { acceptsUnknownDead }: Pick<RunOptions, 'acceptsUnknownDead'> = {},
): void {
  if (dead === undefined) return;
  if (dead.length === 0) throw new UsageError('--dead names no host', { remedy: 'name the hosts: --dead cp2,w3' });
  const names = inventory.hosts.map(({ name }) => name);
  const unknown = dead.find((name) => !names.includes(name));
  if (unknown === undefined || acceptsUnknownDead === true) return;
  const meant = nearest(unknown, names);
  throw new UsageError(`--dead ${unknown}: the inventory has no host of that name`, {
    remedy: meant === undefined ? `its hosts are ${names.join(', ')}` : `did you mean "${meant}"?`,
  });
}

/**
 * After this time without a report of its kubelet, a node is not Ready any more, in ms: 40 s or 50 s, by the version,
 * and the controller's own interval.
 */
const GONE_MS = 75_000;
const GONE_POLL_MS = 5_000;

/**
 * Waits until the nodes of hosts that `--dead` names are not Ready any more, as those of a host that has lost its power
 * are after a while.
 * @throws Refused for one that stays Ready, or whose etcd member is healthy: it is not gone, whatever SSH says
 */
async function refuseSeenDead({ flags, connected, context, signal }: DeadRun): Promise<void> {
  const there = (fleet: Fleet): readonly StillThere[] => stillThere(fleet, flags.dead ?? []);
  let found = there(connected.observations.fleet());
  if (found.length > 0 && found.every(({ is }) => is === 'maybe')) {
    const reasons = found.map(({ why }) => why).join(', ');
    context.err(`${reasons}: waiting whether the kubelet still reports, at most ${String(GONE_MS / 1000)} s\n`);
    const isGone = async (): Promise<true | undefined> => {
      connected.observations.expireCluster();
      found = (await connected.observations.evaluate(there)).value;
      return found.length === 0 || found.some(({ is }) => is === 'surely') ? true : undefined;
    };
    const waiting = { pause: context.sleep, nowMs: context.nowMs, everyMs: GONE_POLL_MS, signal };
    await until(isGone, context.nowMs() + GONE_MS, waiting);
  }
  if (found.length === 0) return;
  const names = found.map(({ name }) => name);
  throw new Refused(
    'dead-host-lives',
    names.join(', '),
    `--dead says that ${names.length === 1 ? 'this host is' : 'these hosts are'} gone, ` +
      `and ${found.map(({ why }) => why).join(', ')}`,
    `make ${names.join(', ')} reachable by SSH. If that cannot be: a node that the inventory does not name is ` +
      'drained through the API by `kbuild remove NAME`, without --dead',
  );
}

/** What tells whether hosts are dead. */
type DeadRun = Pick<Run, 'flags' | 'connected' | 'context' | 'signal'>;

/**
 * @throws Refused for a host that `--dead` names, and that answers or lives for the cluster: its node is Ready, or its
 * etcd member healthy
 */
export async function refuseLivingDead(run: DeadRun): Promise<void> {
  const { flags, connected } = run;
  const living = connected.observations
    .fleet()
    .hosts.map(({ host }) => host.name)
    .filter((name) => flags.dead?.includes(name));
  if (living.length === 0) return refuseSeenDead(run);
  const names = living.join(', ');
  throw new Refused(
    'dead-host-lives',
    names,
    '--dead says that ' +
      (living.length === 1 ? 'this host is gone, and it answers' : 'these hosts are gone, and they answer'),
    `run the command again without ${names} in --dead`,
  );
}

/**
 * This run's command with more hosts in `--dead`. It keeps `--hosts`: without it, `reset` would destroy the whole
 * cluster.
 */
export function commandWithDead(
  { command, flags }: Pick<Run, 'command' | 'flags'>,
  names: readonly string[],
  operands: readonly string[] = [],
): string {
  const listed = (flag: string, values: readonly string[] | undefined): readonly string[] =>
    values === undefined ? [] : [flag, quote(values.join(','))];
  const inventory = flags.inventory === undefined ? [] : [quote(flags.inventory)];
  return [
    'kbuild',
    command,
    ...(operands.length === 0 || inventory.length === 0 ? inventory : ['-i', ...inventory]),
    ...operands.map(quote),
    ...listed('--hosts', flags.hosts),
    ...listed('--phase', flags.phase),
    ...listed('--dead', [...new Set([...(flags.dead ?? []), ...names])]),
  ].join(' ');
}

/** A command for the inventory and the hosts of this run, e.g. `kbuild up prod.yaml --hosts 'w*'`. */
export const sameCommand = ({ flags: { inventory, hosts } }: Pick<Run, 'flags'>, command: string): string =>
  [
    'kbuild',
    command,
    ...(inventory === undefined ? [] : [quote(inventory)]),
    ...(hosts === undefined ? [] : ['--hosts', quote(hosts.join(','))]),
  ].join(' ');

/** The errors of needed hosts that do not answer and that `--dead` does not name; undefined if there are none. */
function unreachableError(
  { connected }: Run,
  isNeeded: (host: Host) => boolean,
  remedy: (names: readonly string[], errors: readonly Error[]) => string | undefined,
): KbuildError | undefined {
  const missing = connected.observations
    .fleet()
    .unreachable.filter(({ host, isDead }) => isNeeded(host) && isDead !== true);
  if (missing.length === 0) return undefined;
  const errors = missing.map(({ error }) => error);
  const names = missing.map(({ host }) => host.name);
  return new SeveralErrors(errors, { remedy: remedy(names, errors) });
}

/** @throws the errors of needed hosts that do not answer, unless `--dead` names these hosts */
export function refuseUnreachable(...of: Parameters<typeof unreachableError>): void {
  const error = unreachableError(...of);
  if (error !== undefined) throw error;
}

/** The errors of unreachable hosts that the cluster depends on and that `--dead` does not name; undefined: none. */
export const missingHosts = (run: Run): KbuildError | undefined =>
  unreachableError(
    run,
    ({ role }) => role !== 'worker',
    (names, errors) => {
      const { cluster } = run.connected.observations.fleet();
      // A host that answered is not dead, and no cluster is created without one of its control planes.
      const canDoWithout = cluster.state !== 'absent' && errors.every(mayBeGone);
      if (!canDoWithout && hasRemedy(errors)) return undefined;
      const them = names.length === 1 ? 'it' : 'them';
      if (!canDoWithout) return `make ${names.join(', ')} reachable`;
      return (
        `make ${names.join(', ')} reachable; or leave ${them} out: \`${commandWithDead(run, names)}\` does all ` +
        `that does not need ${them}`
      );
    },
  );

/** @throws Refused when the API does not answer without the control planes and etcd hosts that `--dead` names. */
export async function refuseWithoutApi({ connected, inventory }: Run): Promise<void> {
  const fleet = connected.observations.fleet();
  const names = deadMembers(fleet);
  const lost = names.length === 0 ? undefined : await quorumIsLost(connected.on, inventory, fleet, names);
  throwAll(refusedFor(deadReasons, { inventory, fleet, lost }));
}
