import { existsSync, statSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { linuxFacts } from '../cluster/fleet/fleet.ts';
import { memberHost } from '../cluster/member-host.ts';
import { Refused, UsageError } from '../errors.ts';
import { begunRestore, keptFolder, type Restore, restoredMemberId, takeBack } from '../etcd/restore-stage.step.ts';
import { paths } from '../paths.ts';
import { makeFolder } from '../report/files.ts';
import { jsonDocument } from '../report/json.ts';
import { carryOut, type Work } from '../session/carry-out.ts';
import type { Context } from '../session/context.ts';
import { withHostLocks } from '../session/locks.ts';
import { refuseForeign } from '../session/preflight.ts';
import { firstPlan } from '../session/as-told.ts';
import { confirmed, reachedPhases, type Run, showPlan } from '../session/run.ts';
import { withRun } from '../session/with-run.ts';
import { isBackup, withOpenedBackup } from './backup-file.ts';
import { refuseOtherMembers, refuseOtherSnapshot, restoredHosts, restoreId } from './etcd-restore-hosts.ts';
import type { RestoreSnapshotOptions, SaveSnapshotOptions } from './etcd.command.ts';
import { restoreHosts, restorePhases } from './restore.phases.ts';
import { snapshotFolder, snapshotTo } from './snapshots.ts';

/** @throws Refused if etcd is the user's own: kbuild does not manage it. */
export function requireOurs({ inventory }: Run): void {
  if (inventory.etcd.topology !== 'external') return;
  throw new Refused(
    'external-etcd',
    inventory.name,
    'its etcd is your own, and so are its snapshots',
    'use etcdctl snapshot save, and etcdutl snapshot restore, on its members',
  );
}

/** `kbuild etcd snapshot save [FILE]`: a verified snapshot of the live etcd, 0600. Prints its path. */
export const runSave = (outer: Context, flags: SaveSnapshotOptions, [file]: readonly string[]): Promise<number> =>
  withRun(outer, flags, { command: 'etcd snapshot save', json: 'document' }, async (run) => {
    const { context } = run;
    requireOurs(run);
    const { connected, inventory } = run;
    const path = file === undefined ? join(snapshotFolder(run), `${run.runId}.db`) : resolve(context.cwd, file);
    if (existsSync(path)) throw new UsageError(`${path} is there already; nothing was written`);
    const control = memberHost(inventory, connected.observations.fleet());
    refuseForeign(run, [control.name]);
    return withHostLocks(run, async () => {
      makeFolder(dirname(path));
      const status = await snapshotTo(run, connected.on, control, path, 'asked for');
      if (flags.json === true) context.out(jsonDocument<'snapshot'>({ file: path, through: control.name, ...status }));
      else context.out(`${path}\n`);
      return 0;
    });
  });

/**
 * Removes what a failed restore prepared, unless it has stopped something already. If a host cannot be reached, the
 * next `up` removes it.
 */
async function takeBackPrepared({ connected, context }: Run, restore: Restore): Promise<void> {
  const hosts = restoreHosts(restore);
  connected.observations.expire(hosts.map(({ name }) => name));
  try {
    const { value: found } = await connected.observations.evaluate((fleet) =>
      hosts.map((host) => {
        const { marker, etcdFolder } = linuxFacts(fleet, host)!;
        return { host, marker, etcdFolder };
      }),
    );
    const begun = found.filter(({ marker }) => begunRestore([marker])?.about === restore.id);
    if (begun.some(({ marker }) => typeof marker === 'object' && marker.stage !== 'prepared')) return;
    await Promise.all(begun.map(({ host, etcdFolder }) => connected.on(host).run(takeBack(etcdFolder))));
    if (begun.length > 0) context.err('nothing was stopped or changed; what was prepared is removed again\n');
  } catch {
    context.err('what was prepared may be left: the same command goes on with it\n');
  }
}

/** Prints what etcd serves now, and where the data before it is kept. */
function reportRestored({ connected, context, flags, inventory }: Run, restore: Restore): void {
  if (flags.json === true) return;
  const fleet = connected.observations.fleet();
  const ids = restore.members.map((host) => `${host.name} ${restoredMemberId(restore, host)}`).join(', ');
  const kept = restore.members.map(
    (host) => `${host.name}:${keptFolder(linuxFacts(fleet, host)?.etcdFolder ?? paths.etcdData, restore)}`,
  );
  context.out(
    restore.hasEnded === true
      ? `an earlier run has put ${inventory.name} back to ${restore.snapshot}; the data before it is in ` +
          `${kept.join(', ')}; to restore it once more, run the same command again\n`
      : `${inventory.name} is what ${restore.snapshot} held (etcd serves it as ${ids}); the data before it is in ` +
          `${kept.join(', ')}\n`,
  );
}

/** A restore, and what refuses it. */
interface Restoring {
  readonly restore: Restore & { readonly snapshot: string };
  /** @throws Refused when it must not be restored here */
  readonly refuse: () => Promise<void>;
}

/** The restore that the operator wants. @throws Refused when it must not be restored here */
async function restoreOf(run: Run, file: string): Promise<Restoring> {
  const { context, inventory } = run;
  requireOurs(run);
  const snapshot = resolve(context.cwd, file);
  const about = restoredHosts(run);
  const refuse = async (): Promise<void> => {
    refuseForeign(
      run,
      restoreHosts(about).map(({ name }) => name),
    );
    await refuseOtherSnapshot(run, about.controls, snapshot);
    await refuseOtherMembers(run, about, [file]);
  };
  await refuse();
  return { restore: { inventory, ...about, snapshot, ...(await restoreId(run, about, snapshot)) }, refuse };
}

/**
 * The same for a file of `kbuild backup`: its snapshot lies unencrypted in the state folder meanwhile. @throws
 * UsageError without a file, before a host is contacted
 */
export async function runRestore(
  outer: Context,
  flags: RestoreSnapshotOptions,
  [file]: readonly string[],
): Promise<number> {
  const path = resolve(outer.cwd, file ?? '');
  if (file === undefined || statSync(path, { throwIfNoEntry: false })?.isFile() !== true)
    throw new UsageError(`there is no snapshot ${path}; no host was contacted`, {
      remedy: 'name a file of `kbuild etcd snapshot save` or `kbuild backup`',
    });
  if (!isBackup(path)) return restoreSnapshot(outer, flags, file);
  return withOpenedBackup(outer, flags, path, ({ snapshot }) => restoreSnapshot(outer, flags, snapshot));
}

/** `kbuild etcd snapshot restore FILE`: the whole control plane goes back to what the snapshot holds. */
const restoreSnapshot = (outer: Context, flags: RestoreSnapshotOptions, file: string): Promise<number> =>
  withRun(outer, flags, { command: 'etcd snapshot restore', json: 'events', acceptsUnknownDead: true }, async (run) => {
    const { restore, refuse } = await restoreOf(run, file);
    const { inventory, snapshot } = restore;
    const work: Work = {
      phases: () => reachedPhases(run, restorePhases(restore)),
      refuse,
      replacesData: true,
      afterFailure: () => takeBackPrepared(run, restore),
    };
    const plan = await firstPlan(run, work);
    const names = restoreHosts(restore)
      .map(({ name }) => name)
      .join(', ');
    const [notes, question] =
      restore.hasEnded === true
        ? [`An earlier run has ended this restore, and its notes are left: nothing is restored now.\n`, 'Remove them?']
        : [
            `This puts ${inventory.name} back to ${snapshot}: every change since then is lost, and the API is ` +
              'away meanwhile.\n',
            `Restore ${names}?`,
          ];
    showPlan(run, plan, { notes });
    if (!(await confirmed(run, question))) return 0;
    const { code, isDone } = await carryOut(run, work, plan);
    if (isDone) reportRestored(run, restore);
    return code;
  });
