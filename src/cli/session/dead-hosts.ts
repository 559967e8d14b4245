import { quorumIsLost } from '../../cluster/without-quorum.ts';
import { Refused, SeveralErrors, UsageError, type KbuildError } from '../../errors.ts';
import type { Host, Inventory } from '../../model/inventory.ts';
import { nearest } from '../../inventory/nearest.ts';
import { quote } from '../../shell/sh.ts';
import type { Flags } from '../options.ts';
import type { Run, RunOptions } from './run.ts';

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

/** @throws Refused for a host that `--dead` names and that answers. */
export function refuseLivingDead({ flags, connected }: Pick<Run, 'flags' | 'connected'>): void {
  const living = connected.observations
    .fleet()
    .hosts.map(({ host }) => host.name)
    .filter((name) => flags.dead?.includes(name));
  if (living.length === 0) return;
  const names = living.join(', ');
  throw new Refused(
    names,
    `--dead says that ${living.length === 1 ? 'this host is gone, and it answers' : 'these hosts are gone, and they answer'}`,
    `run the command again without ${names} in --dead`,
  );
}

/** This run's command with more hosts in `--dead`. It keeps `--hosts`: without it, `reset` would destroy the whole cluster. */
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

/** The errors of needed hosts that do not answer and that `--dead` does not name; undefined if there are none. */
function unreachableError(
  { connected }: Run,
  isNeeded: (host: Host) => boolean,
  remedy: (names: readonly string[]) => string,
): KbuildError | undefined {
  const missing = connected.observations
    .fleet()
    .unreachable.filter(({ host, isDead }) => isNeeded(host) && isDead !== true);
  if (missing.length === 0) return undefined;
  const errors = missing.map(({ error }) => error);
  return new SeveralErrors(errors, { remedy: remedy(missing.map(({ host }) => host.name)) });
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
    (names) => {
      const them = names.length === 1 ? 'it' : 'them';
      return `make ${names.join(', ')} reachable; or leave ${them} out: \`${commandWithDead(run, names)}\` does all that does not need ${them}`;
    },
  );

/** @throws Refused when the API does not answer without the control planes and etcd hosts that `--dead` names. */
export async function refuseWithoutApi({ connected, inventory }: Run): Promise<void> {
  const fleet = connected.observations.fleet();
  const { cluster } = fleet;
  const names = fleet.unreachable
    .filter(({ host, isDead }) => isDead === true && (host.role === 'control-plane' || host.role === 'etcd'))
    .map(({ host }) => host.name);
  if (cluster.state !== 'down' || names.length === 0) return;
  const lost = await quorumIsLost(connected.on, inventory, fleet, names);
  if (lost !== undefined) throw lost;
  throw new Refused(
    names.join(', '),
    `the API does not answer without ${names.length === 1 ? 'this host' : 'these hosts'}, and every change needs it (${cluster.reason})`,
    'run the command again in a minute; if the API still does not answer, bring the hosts back first',
  );
}
