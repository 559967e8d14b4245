import { resolve } from 'node:path';
import {
  apiReasons,
  isBroughtBack,
  livingReasons,
  oldAddresses,
  type Workers,
  workersOf,
} from '../backup/lost-cluster.ts';
import { backupName, type Manifest } from '../backup/manifest.ts';
import { PKI } from '../backup/read.ts';
import { backupRefusals, controlPlaneReasons, workerReasons } from '../backup/restore.refusal.ts';
import { pkiFile } from '../certificates/shared-files.ts';
import { linuxFacts } from '../cluster/fleet/fleet.ts';
import { refusedFor } from '../cluster/reasons.ts';
import { stops } from '../engine/check.ts';
import { ChecksFailed, Refused, throwAll } from '../errors.ts';
import { listensAt } from '../etcd/restore-members.ts';
import { hostPort } from '../inventory/addresses.ts';
import { apiPort } from '../inventory/api-server.ts';
import { controlPlanes } from '../inventory/hosts.ts';
import { isInitFromBackup } from '../kubeadm/marker.facts.ts';
import type { FromBackup } from '../kubeadm/run-kubeadm.step.ts';
import { paths } from '../paths.ts';
import { findingsText } from '../report/findings.ts';
import { carryOut, type Work } from '../session/carry-out.ts';
import type { Context } from '../session/context.ts';
import { findings, refuseForeign } from '../session/preflight.ts';
import { firstPlan } from '../session/as-told.ts';
import { confirmed, reachedPhases, type Run, showPlan } from '../session/run.ts';
import { refuseUnreachable } from '../session/selection.ts';
import { withRun } from '../session/with-run.ts';
import { sh } from '../shell/sh.ts';
import { type OpenedBackup, withOpenedBackup } from './backup-file.ts';
import type { RestoreOptions } from './backup.command.ts';
import { restoreBackupPhases } from './restore.phases.ts';
import { dataKept, snapshotBefore } from './snapshots.ts';
import { runUp } from './up.ts';

/** The name of the backup from which the live cluster was brought back; empty if there is no such note. */
async function restoredFrom({ connected, inventory }: Run): Promise<readonly string[]> {
  const fleet = connected.observations.fleet();
  const notes = await Promise.all(
    controlPlanes(inventory)
      .filter((host) => linuxFacts(fleet, host) !== undefined)
      .map(async (host) =>
        connected.on(host).run(sh`if [ -e ${paths.restoredFrom} ]; then cat ${paths.restoredFrom}; fi`),
      ),
  );
  return notes.map((note) => note.trim()).filter((note) => note !== '');
}

/** @throws Refused while a program listens where the backup has control planes, by `livingReasons` */
async function refuseLiving(run: Run, manifest: Manifest): Promise<void> {
  const { connected, inventory } = run;
  const [first] = controlPlanes(inventory);
  if (first === undefined) return;
  const ports = [String(apiPort(inventory)), '2379', '2380'];
  const found = await Promise.all(
    oldAddresses(connected.observations.fleet(), manifest).flatMap(({ name, address }) =>
      ports.map(async (port) =>
        (await listensAt(connected.on(first), address, port)) ? `${name} (${hostPort(address, port)})` : undefined,
      ),
    ),
  );
  const living = found.filter((one) => one !== undefined);
  throwAll(refusedFor(livingReasons, { inventory, living, from: first.name }));
}

/**
 * True if this restore has brought the API back: what is left is what `up` does. `was`: what an earlier observation
 * showed. @throws Refused when another cluster lives, by `apiReasons`
 */
async function hasServed(run: Run, manifest: Manifest, was?: 'served' | 'not served'): Promise<boolean> {
  const { connected, inventory } = run;
  const fleet = connected.observations.fleet();
  if (fleet.cluster.state === 'absent') return false;
  const seen = { inventory, fleet, manifest, notes: await restoredFrom(run), was };
  throwAll(refusedFor(apiReasons, seen));
  return isBroughtBack(seen);
}

/**
 * @throws Refused where the backup must not become the cluster, by what the hosts show; `was`: what an earlier
 * observation showed
 */
async function refuseRestore(run: Run, manifest: Manifest, was: 'served' | 'not served'): Promise<void> {
  await hasServed(run, manifest, was);
  if (was === 'served') return;
  const { connected, inventory } = run;
  const fleet = connected.observations.fleet();
  throwAll(refusedFor(controlPlaneReasons, { inventory, fleet }));
  refuseForeign(
    run,
    fleet.hosts.map(({ host }) => host.name),
  );
  await refuseLiving(run, manifest);
}

/**
 * How the workers stand to the backup, if the restore may begin. Leaves the workers out of the run. @throws Refused,
 * ChecksFailed or the errors of hosts that do not answer: why it may not begin
 */
async function refuseToBegin(run: Run, manifest: Manifest): Promise<Workers> {
  const { connected, context, flags, inventory } = run;
  refuseUnreachable(
    run,
    ({ role }) => role !== 'worker',
    (names) =>
      `every control plane of the inventory must answer: make ${names.join(', ')} reachable, or take it out of ` +
      'the inventory',
  );
  const workers = workersOf(inventory, connected.observations.fleet(), manifest);
  throwAll(refusedFor(workerReasons, { inventory, workers }));
  // Until the API answers, a worker's kubelet says nothing of the new control planes.
  connected.leaveOut(
    inventory.hosts
      .filter(({ role }) => role === 'worker')
      .map((host) => ({ host, error: new Refused('cluster-down', host.name, 'it waits until the API answers') })),
  );
  await refuseRestore(run, manifest, 'not served');
  const found = findings(run).filter(({ check }) => check !== 'reachable');
  const bad = found.filter(stops);
  if (bad.length > 0)
    throw new ChecksFailed(`${String(bad.length)} checks failed; nothing was changed\n${findingsText(bad)}`);
  if (found.length > 0 && flags.quiet !== true) context.err(findingsText(found));
  return workers;
}

/** What the operator must know before the answer. */
function notesOf({ inventory }: Run, manifest: Manifest, { own, others, unknown }: Workers): string {
  const { ca, taken, controlPlanes: controls, encryption, kubernetes } = manifest;
  const kms = encryption?.keys.filter(({ provider }) => provider === 'kms') ?? [];
  return [
    `This brings ${inventory.name} (CA ${ca}) back as it was at ${taken} (Kubernetes ${kubernetes}): every ` +
      'change since then is lost.',
    `Keep ${controls.map(({ name, address }) => `${name} (${address})`).join(', ')} of that time switched off, ` +
      'unless they are the hosts of this plan.',
    own.length > 0
      ? `These come by themselves: ${own.join(', ')}.`
      : 'No worker knows this cluster: all of them join again.',
    ...(others.length > 0 ? [`Nodes of another cluster, left alone: ${others.join(', ')}.`] : []),
    ...(unknown.length > 0 ? [`Not reached, and not verified: ${unknown.join(', ')}.`] : []),
    ...(kms.length > 0
      ? [
          `Secrets are encrypted by a KMS plugin (${kms.map(({ name }) => name).join(', ')}): it must run on the ` +
            'control planes.',
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
    about: `${backupName(manifest)}-${run.runId}`,
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
    throwAll(backupRefusals(opened.inventory, opened.manifest));
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
