import { resolve } from 'node:path';
import type { Manifest } from '../backup/manifest.ts';
import { PKI } from '../backup/read.ts';
import { backupRefusals } from '../cluster/backup-refusals.ts';
import type { Workers } from '../cluster/lost.ts';
import type { FromBackup } from '../configuration/kubeadm-job.ts';
import { pkiFile } from '../configuration/shared-certificates.ts';
import { combined } from '../errors.ts';
import { linuxFacts } from '../facts/fleet.ts';
import { isInitFromBackup } from '../facts/marker.ts';
import { restoreBackupPhases } from '../phases/restore-backup.ts';
import { controlPlanes } from '../topology/select.ts';
import type { RestoreOptions } from './commands/restore.ts';
import type { Context } from './context.ts';
import { hasServed, nameOf, refuseRestore, refuseToBegin } from './restore-begin.ts';
import { carryOut, type Work } from './session/carry-out.ts';
import { withOpenedBackup, type OpenedBackup } from './session/opened-backup.ts';
import { confirmed, firstPlan, reachedPhases, showPlan } from './session/run-plan.ts';
import type { Run } from './session/run.ts';
import { dataKept, snapshotBefore } from './session/snapshots.ts';
import { withRun } from './session/with-run.ts';
import { runUp } from './up.ts';

/** What the operator must know before the answer. */
function notesOf({ inventory }: Run, manifest: Manifest, { own, others, unknown }: Workers): string {
  const { ca, taken, controlPlanes: controls, encryption, kubernetes } = manifest;
  const kms = encryption?.keys.filter(({ provider }) => provider === 'kms') ?? [];
  return [
    `This brings ${inventory.name} (CA ${ca}) back as it was at ${taken} (Kubernetes ${kubernetes}): every change since then is lost.`,
    `Keep ${controls.map(({ name, address }) => `${name} (${address})`).join(', ')} of that time switched off, unless they are the hosts of this plan.`,
    own.length > 0
      ? `These come by themselves: ${own.join(', ')}.`
      : 'No worker knows this cluster: all of them join anew.',
    ...(others.length > 0 ? [`Nodes of another cluster, left alone: ${others.join(', ')}.`] : []),
    ...(unknown.length > 0 ? [`Not reached, and not verified: ${unknown.join(', ')}.`] : []),
    ...(kms.length > 0
      ? [
          `Secrets are encrypted by a KMS plugin (${kms.map(({ name }) => name).join(', ')}): it must run on the control planes.`,
        ]
      : []),
    '',
  ].join('\n');
}

/** Makes the first control plane out of the backup. Exit code, and whether `up` may go on. */
async function restoreFirst(
  run: Run,
  opened: OpenedBackup,
): Promise<{ readonly code: number; readonly isDone: boolean }> {
  const { connected, inventory } = run;
  const { manifest, contents, snapshot } = opened;
  const served = await hasServed(run, manifest);
  const workers = served ? undefined : await refuseToBegin(run, manifest);
  const begun = controlPlanes(inventory)
    .map((host) => linuxFacts(connected.observations.fleet(), host)?.marker)
    .find((marker) => isInitFromBackup(marker));
  const pki = [...contents].flatMap(([name, content]) =>
    name.startsWith(PKI) ? [[pkiFile(name.slice(PKI.length)), content] as const] : [],
  );
  const from: FromBackup = {
    about: `${nameOf(manifest)}-${run.runId}`,
    snapshot,
    taken: manifest.taken,
    pki: Object.fromEntries(pki),
  };
  const work: Work = {
    phases: () =>
      served
        ? restoreBackupPhases(inventory, from, manifest, snapshotBefore(run), dataKept(run)).slice(-1)
        : reachedPhases(run, restoreBackupPhases(inventory, from, manifest, snapshotBefore(run), dataKept(run))),
    refuse: () => refuseRestore(run, manifest, served ? 'served' : 'not served'),
    replacesData: true,
    mayGrow: true,
  };
  const plan = await firstPlan(run, work);
  if (plan.changes.length === 0) return { code: 0, isDone: true };
  const cut = begun === undefined ? '' : 'An earlier restore was cut off here: what it left is undone first.\n';
  showPlan(run, plan, { notes: workers === undefined ? '' : `${notesOf(run, manifest, workers)}${cut}` });
  if (!(await confirmed(run, served ? 'Go on?' : `Bring ${inventory.name} back from this backup?`)))
    return { code: 0, isDone: false };
  return carryOut(run, work, plan);
}

/** `kbuild restore BACKUP`: all control planes are lost, and the backup becomes the cluster on new ones. */
export async function runRestoreBackup(
  outer: Context,
  flags: RestoreOptions,
  [file = '']: readonly string[],
): Promise<number> {
  const begunMs = outer.nowMs();
  const options = { command: 'restore', json: 'events', reportsUnreachable: true } as const;
  const { code, isDone } = await withOpenedBackup(outer, flags, resolve(outer.cwd, file), async (opened) => {
    const refused = backupRefusals(opened.inventory, opened.manifest);
    if (refused.length > 0) throw combined(refused);
    const outcome = { isDone: false };
    const code = await withRun(outer, flags, options, async (run) => {
      const ended = await restoreFirst(run, opened);
      outcome.isDone = ended.isDone;
      if (ended.isDone && flags.quiet !== true)
        run.context.err('the API serves the data of the backup; now `up` goes on\n');
      return ended.code;
    });
    return { code, ...outcome };
  });
  if (!isDone) return code;
  // The deadline is one for both parts.
  const left = flags.timeout === undefined ? {} : { timeout: Math.max(1, flags.timeout - (outer.nowMs() - begunMs)) };
  return runUp(outer, { ...flags, ...left, yes: true });
}
