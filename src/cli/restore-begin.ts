import { createHash } from 'node:crypto';
import { manifestText, type Manifest } from '../backup/manifest.ts';
import { stops } from '../checks/run-checks.ts';
import { oldAddresses, splitBrainRefusals, workerRefusals, workersOf, type Workers } from '../cluster/lost.ts';
import { listensAt } from '../cluster/restore-members.ts';
import { ChecksFailed, combined, Refused } from '../errors.ts';
import { linuxFacts, observedLinux } from '../facts/fleet.ts';
import { isInitFromBackup } from '../facts/marker.ts';
import { paths } from '../paths.ts';
import { findingsText } from '../report/findings.ts';
import { sh } from '../shell/sh.ts';
import { apiPort } from '../topology/api-server.ts';
import { controlPlanes } from '../topology/select.ts';
import { refuseUnreachable } from './session/dead-hosts.ts';
import { findings, refuseForeign } from './session/preflight.ts';
import type { Run } from './session/run.ts';

/** Names a backup: another one of the same cluster has another name. */
export const nameOf = (manifest: Manifest): string =>
  `backup-${createHash('sha256').update(manifestText(manifest)).digest('hex').slice(0, 16)}`;

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

/** @throws Refused while something answers at an address of the old control planes that is none of our hosts' */
async function refuseLiving(run: Run, manifest: Manifest): Promise<void> {
  const { connected, inventory } = run;
  const [first] = controlPlanes(inventory);
  if (first === undefined) return;
  const ports = [String(apiPort(inventory)), '2379', '2380'];
  const found = await Promise.all(
    oldAddresses(connected.observations.fleet(), manifest).flatMap(({ name, address }) =>
      ports.map(async (port) =>
        (await listensAt(connected.on(first), address, port)) ? `${name} (${address}:${port})` : undefined,
      ),
    ),
  );
  const living = found.filter((one) => one !== undefined);
  if (living.length === 0) return;
  throw new Refused(
    inventory.name,
    `something listens where the backup has control planes: ${living.join(', ')}, as seen from ${first.name}`,
    'switch it off for good, or name it in the inventory: two control planes would each take writes. If another machine has the address by now, give it another one first',
  );
}

/** True if this restore has brought the API back: what is left is what `up` does. @throws Refused when another cluster lives */
export async function hasServed(run: Run, manifest: Manifest): Promise<boolean> {
  const { connected, inventory } = run;
  const fleet = connected.observations.fleet();
  const { cluster } = fleet;
  if (cluster.state === 'absent') return false;
  const notes = await restoredFrom(run);
  const isCutOff = observedLinux(fleet).some(({ facts }) => isInitFromBackup(facts.marker));
  if (cluster.state === 'down') {
    if (isCutOff || !notes.some((note) => note.startsWith(nameOf(manifest)))) return false;
    throw new Refused(
      inventory.name,
      `it was brought back from this backup, and its API does not answer (${cluster.reason})`,
      'run the same command again when it answers, within minutes after a host has started; `kbuild status` says what is wrong',
    );
  }
  if (cluster.caFingerprint === manifest.ca && notes.some((note) => note.startsWith(nameOf(manifest)))) return true;
  throw new Refused(
    inventory.name,
    `its API answers through ${cluster.via}: the control planes are not lost`,
    'to put a live cluster back to an earlier state: `kbuild etcd snapshot restore SNAPSHOT`',
  );
}

/** @throws Refused where the backup must not become the cluster, by what the hosts show; `was`: what an earlier observation showed */
export async function refuseRestore(run: Run, manifest: Manifest, was: 'served' | 'not served'): Promise<void> {
  const { connected, inventory } = run;
  const serves = await hasServed(run, manifest);
  if (was === 'served') return;
  if (serves)
    throw new Refused(
      inventory.name,
      'another run has brought it back from this backup meanwhile',
      'run the same command again: it goes on from there',
    );
  const fleet = connected.observations.fleet();
  const split = splitBrainRefusals(inventory, fleet);
  if (split.length > 0) throw combined(split);
  refuseForeign(
    run,
    fleet.hosts.map(({ host }) => host.name),
  );
  await refuseLiving(run, manifest);
}

/**
 * How the workers stand to the backup, if the restore may begin. Leaves the workers out of the run. @throws Refused, ChecksFailed
 * or the errors of hosts that do not answer: why it may not begin
 */
export async function refuseToBegin(run: Run, manifest: Manifest): Promise<Workers> {
  const { connected, context, flags, inventory } = run;
  refuseUnreachable(
    run,
    ({ role }) => role !== 'worker',
    (names) =>
      `every control plane of the inventory must answer: make ${names.join(', ')} reachable, or take it out of the inventory`,
  );
  const workers = workersOf(inventory, connected.observations.fleet(), manifest);
  const wrong = workerRefusals(inventory, workers);
  if (wrong.length > 0) throw combined(wrong);
  // Until the API answers, a worker's kubelet says nothing of the new control planes.
  connected.leaveOut(
    inventory.hosts
      .filter(({ role }) => role === 'worker')
      .map((host) => ({ host, error: new Refused(host.name, 'it waits until the API answers') })),
  );
  await refuseRestore(run, manifest, 'not served');
  const found = findings(run).filter(({ check }) => check !== 'reachable');
  const bad = found.filter(stops);
  if (bad.length > 0)
    throw new ChecksFailed(`${String(bad.length)} checks failed; nothing was changed\n${findingsText(bad)}`);
  if (found.length > 0 && flags.quiet !== true) context.err(findingsText(found));
  return workers;
}
