import { linuxFacts } from '../cluster/fleet/fleet.ts';
import { Refused } from '../errors.ts';
import { keptFolder, type Restore, restoredMemberId } from '../etcd/restore-stage.step.ts';
import type { LinuxHost } from '../inventory/inventory.ts';
import { paths } from '../paths.ts';
import { carryOut, type Work } from '../session/carry-out.ts';
import type { Context } from '../session/context.ts';
import { refuseForeign } from '../session/preflight.ts';
import { firstPlan } from '../session/as-told.ts';
import { confirmed, reachedPhases, type Run, showPlan } from '../session/run.ts';
import { commandWithDead } from '../session/selection.ts';
import { withRun } from '../session/with-run.ts';
import { recoveryId, refuseOtherMembers, restoredHosts } from './etcd-restore-hosts.ts';
import { requireOurs } from './etcd-snapshot.ts';
import type { RecoverEtcdOptions } from './etcd.command.ts';
import { restoreHosts, restorePhases } from './restore.phases.ts';

/** A recovery, and the member that is left. */
interface Recovery {
  readonly restore: Restore;
  readonly survivor: LinuxHost;
  /** @throws Refused when it must not be recovered, or nothing is lost */
  readonly refuse: () => Promise<void>;
}

/** @throws Refused unless exactly one member is left: two have different data, and may have quorum together */
function onlyMember(run: Run, members: readonly LinuxHost[]): LinuxHost {
  const [only, ...others] = members;
  if (only !== undefined && others.length === 0) return only;
  const names = members.map(({ name }) => name).join(', ');
  throw new Refused(
    'several-members-left',
    run.inventory.name,
    `etcd can be recovered from one member only, and ${names} are not declared dead`,
    'if more than half of all members can start, start them: etcd has quorum then; else switch off all but one, ' +
      `and name them: \`${commandWithDead(run, ['NAMES'])}\``,
  );
}

/** @throws Refused while etcd has quorum */
function refuseWithQuorum({ connected, inventory, flags }: Run): void {
  const { cluster } = connected.observations.fleet();
  if (cluster.state !== 'up' && cluster.etcd?.state !== 'up') return;
  const dead = flags.dead ?? [];
  throw new Refused(
    'nothing-lost',
    inventory.name,
    'etcd has quorum: nothing is lost, and there is nothing to recover',
    dead.length === 0
      ? 'see `kbuild status`'
      : `remove what is dead: \`kbuild remove ${dead.join(' ')} --dead ${dead.join(',')}\``,
  );
}

/** What is recovered. @throws Refused when it must not be, or nothing is lost */
async function recoveryOf(run: Run): Promise<Recovery> {
  const { inventory } = run;
  requireOurs(run);
  const about = restoredHosts(run);
  const refuse = async (): Promise<void> => {
    refuseForeign(
      run,
      restoreHosts(about).map(({ name }) => name),
    );
    const { hasBegun } = recoveryId(run, about);
    if (!hasBegun) refuseWithQuorum(run);
    const { name } = onlyMember(run, about.members);
    const lost = await refuseOtherMembers(run, about, []);
    if (lost.length === 0 && !hasBegun)
      throw new Refused(
        'nothing-lost',
        name,
        'its etcd has no other member, so no quorum is lost',
        'see `kbuild status`',
      );
  };
  await refuse();
  const { id, hasEnded } = recoveryId(run, about);
  const survivor = onlyMember(run, about.members);
  const ended = hasEnded === undefined ? {} : { hasEnded };
  return { restore: { inventory, ...about, snapshot: undefined, id, ...ended }, survivor, refuse };
}

/** What the operator must know before the answer, and the question. */
function wordsOf({ flags, inventory }: Run, { restore, survivor: { name } }: Recovery): readonly [string, string] {
  if (restore.hasEnded === true)
    return [
      'An earlier run has ended this recovery, and its notes are left: nothing is changed now.\n',
      'Remove them?',
    ];
  const dead = flags.dead?.join(', ') ?? '';
  return [
    `This makes what etcd of ${name} has the data of ${inventory.name}. What only ${dead} had is lost.\nKeep ` +
      `${dead} switched off: together they would serve the data of before.\n`,
    `Recover ${inventory.name} from ${name}?`,
  ];
}

/** Prints what etcd serves now, where the data before it is kept, and what to do next. */
function report({ connected, context, flags, inventory }: Run, { restore, survivor }: Recovery): void {
  if (flags.json === true) return;
  const { etcdFolder } = linuxFacts(connected.observations.fleet(), survivor) ?? { etcdFolder: paths.etcdData };
  const dead = flags.dead ?? [];
  const next =
    dead.length === 0
      ? ''
      : `remove the others, \`kbuild remove ${dead.join(' ')} --dead ${dead.join(',')}\`, and grow again with ` +
        'new machines: `kbuild up`\n';
  context.out(
    `${inventory.name} goes on with what ${survivor.name} had (etcd serves it as ` +
      `${restoredMemberId(restore, survivor)}); its data before is in ` +
      `${survivor.name}:${keptFolder(etcdFolder, restore)}\n${next}`,
  );
}

/** `kbuild etcd recover`: quorum is lost, and the data of the only member that is left becomes the cluster. */
export const runRecoverEtcd = (outer: Context, flags: RecoverEtcdOptions): Promise<number> =>
  withRun(outer, flags, { command: 'etcd recover', json: 'events', acceptsUnknownDead: true }, async (run) => {
    const recovery = await recoveryOf(run);
    const work: Work = {
      phases: () => reachedPhases(run, restorePhases(recovery.restore)),
      refuse: recovery.refuse,
      replacesData: true,
    };
    const plan = await firstPlan(run, work);
    const [notes, question] = wordsOf(run, recovery);
    showPlan(run, plan, { notes });
    if (!(await confirmed(run, question))) return 0;
    const { code, isDone } = await carryOut(run, work, plan);
    if (isDone) report(run, recovery);
    return code;
  });
