import { linuxFacts } from '../cluster/fleet/fleet.ts';
import type { Change, Step, Target } from '../engine/step.ts';
import type { LinuxHost } from '../inventory/inventory.ts';
import { putControlPlaneAside } from '../kubeadm/run-kubeadm.step.ts';
import { markerAway, RESTORE } from '../kubeadm/marker.facts.ts';
import { paths } from '../paths.ts';
import { withRuntime } from '../runtime/runtimes.value.ts';
import type { Command } from '../shell/command.ts';
import { sh } from '../shell/sh.ts';
import type { On } from '../ssh/remote.ts';
import { script } from '../templates.ts';
import { peerUrl } from './config.ts';
import {
  isMember,
  isPast,
  keptFolder,
  type Restore,
  restoredMemberId,
  type RestoreStage,
  stageOf,
  tokenOf,
  workFolder,
} from './restore-stage.step.ts';
import type { MemberView } from './view.facts.ts';

/** A command that records its stage in the marker afterwards. */
const noting = ({ inventory, id }: Restore, command: Command<'sh'>, stage: RestoreStage): Command<'sh'> => {
  const note = {
    ...{ MARKER: paths.marker, KEPT: paths.markerKept },
    ...{ CLUSTER: inventory.name, ACTION: RESTORE, STAGE: stage, ABOUT: id },
  };
  return {
    ...command,
    script: `${command.script}\n${script('etcd/write-marker.sh', note).script}`,
  };
};

/** A step that brings a host to a stage, unless the host has reached it. */
function stageStep(
  restore: Restore,
  name: string,
  stage: RestoreStage,
  summary: (host: LinuxHost) => string,
  apply: (on: On, target: Target) => Promise<unknown>,
): Step {
  return {
    name,
    diff: (target): readonly Change[] =>
      isPast(restore, target, stage)
        ? []
        : [{ summary: summary(target.host), apply: (on) => apply(on, target).then(() => undefined) }],
  };
}

/** A command on a host that runs the programs of etcd's image; `MANIFESTS` names the image. */
const withEtcdImage = ({ inventory }: Restore, host: LinuxHost, command: Command<'sh'>): Command<'sh'> =>
  withRuntime(inventory, host, command);

const MANIFESTS = [paths.etcdManifest, `${paths.restoreAside}/etcd.yaml`];

/** Brings the snapshot to the host: the operator's file, or a snapshot of the host's own data. */
async function snapshotOn(restore: Restore, on: On, host: LinuxHost, folder: string): Promise<void> {
  const work = workFolder(folder);
  if (restore.snapshot !== undefined) {
    await on(host).upload(restore.snapshot, `${work}/snapshot.db`, 0o600);
    return;
  }
  const taking = script('etcd/etcd-take-data.sh', { WORK: work, FOLDER: folder, MANIFESTS, NAME: host.name });
  await on(host).job('etcd-take-data', withEtcdImage(restore, host, taking));
}

async function prepare(restore: Restore, on: On, { host, facts, fleet }: Target): Promise<void> {
  const remote = on(host);
  const stage = restore.snapshot === undefined ? 'taken' : 'prepared';
  if (!isMember(restore, host)) {
    await remote.job('etcd-restore', noting(restore, sh`:`, stage));
    return;
  }
  const folder = linuxFacts(fleet, host)?.etcdFolder ?? facts.etcdFolder;
  const work = workFolder(folder);
  try {
    await snapshotOn(restore, on, host, folder);
    const making = script('etcd/etcd-restore-prepare.sh', {
      WORK: work,
      MANIFESTS,
      NAME: host.name,
      PEER: peerUrl(host),
      CLUSTER: restore.members.map((member) => `${member.name}=${peerUrl(member)}`).join(','),
      TOKEN: tokenOf(restore),
    });
    await remote.job('etcd-restore', noting(restore, withEtcdImage(restore, host, making), stage));
  } catch (error) {
    // If the host cannot be reached, the folder stays. The same command or the next `up` removes it.
    await remote.run(sh`rm -rf -- ${work}`).catch(() => undefined);
    throw error;
  }
}

/** Creates etcd's data from the snapshot, beside the live data. Stops no process. */
export const prepared = (restore: Restore): Step =>
  stageStep(
    restore,
    'etcd-restore-prepared',
    'prepared',
    (host) =>
      isMember(restore, host)
        ? `make etcd's data of ${host.name} from the snapshot, beside the live data`
        : `note the restore on ${host.name}`,
    (on, target) => prepare(restore, on, target),
  );

/**
 * Copies all data of the surviving member, its log included, into new data beside the old. Runs after its etcd has
 * stopped.
 */
export const taken = (restore: Restore): Step =>
  stageStep(
    restore,
    'etcd-data-taken',
    'taken',
    (host) =>
      isMember(restore, host)
        ? `make new data for etcd of ${host.name} from all that it has, beside the old data`
        : `note the recovery on ${host.name}`,
    (on, target) => prepare(restore, on, target),
  );

/** Stops the control plane: no API server can write, no member can vote. */
export const stopped = (restore: Restore): Step =>
  stageStep(
    restore,
    'etcd-restore-stopped',
    'stopped',
    (host) => `stop the control plane of ${host.name}`,
    (on, { host }) =>
      on(host).job('etcd-restore-stop', noting(restore, putControlPlaneAside(restore.inventory, host), 'stopped')),
  );

/** Replaces the live data, which is kept, with the restored data, and starts etcd. */
export const swapped = (restore: Restore): Step =>
  stageStep(
    restore,
    'etcd-restore-swapped',
    'swapped',
    (host) => `start etcd of ${host.name} with the restored data; the data before it is kept`,
    (on, { host, facts: { etcdFolder } }) =>
      on(host).job(
        'etcd-restore-swap',
        noting(
          restore,
          script('etcd/etcd-restore-swap.sh', {
            ASIDE: paths.restoreAside,
            FOLDER: etcdFolder,
            WORK: workFolder(etcdFolder),
            KEPT: keptFolder(etcdFolder, restore),
          }),
          'swapped',
        ),
      ),
  );

/** Starts the API servers again. */
export const started = (restore: Restore): Step =>
  stageStep(
    restore,
    'etcd-restore-started',
    'started',
    (host) => `start the control plane of ${host.name}`,
    (on, { host }) =>
      on(host).job(
        'etcd-restore-start',
        noting(restore, script('etcd/etcd-restore-start.sh', { ASIDE: paths.restoreAside }), 'started'),
      ),
  );

/** The reason why a host does not serve the restored data yet; undefined if it does. */
function missing(restore: Restore, { host, fleet: { cluster } }: Target): string | undefined {
  if (cluster.state !== 'up') return `the API: ${cluster.state === 'down' ? cluster.reason : 'no answer'}`;
  const found = [
    ...(restore.controls.some(({ name }) => name === host.name) && cluster.apiServers.get(host.name) !== 'ok'
      ? [`its API server: ${cluster.apiServers.get(host.name) ?? 'no answer'}`]
      : []),
    ...(isMember(restore, host) ? [memberFlaw(restore, host, cluster.members) ?? []].flat() : []),
  ];
  return found.length === 0 ? undefined : found.join('; ');
}

/** The reason why the etcd member of a host is not the restored one, or not healthy; undefined if it is both. */
function memberFlaw(restore: Restore, host: LinuxHost, members: readonly MemberView[]): string | undefined {
  const id = restoredMemberId(restore, host);
  const member = members.find((candidate) => candidate.id === id);
  if (member !== undefined) return member.healthy ? undefined : `its etcd member ${id} is not healthy`;
  const other = members.find(({ name }) => name === host.name);
  return other === undefined
    ? `etcd has no member ${id}`
    : `etcd serves other data than was restored: its member ${other.id} is not ${id}`;
}

const SERVES_WITHIN_MS = 5 * 60_000;

/** Waits until every member of etcd serves the restored data and every API server is ready. */
export const serving = (restore: Restore): Step => ({
  name: 'etcd-restore-serves',
  settleMs: SERVES_WITHIN_MS,
  diff: (target) => {
    if (isPast(restore, target, 'served')) return [];
    const what = missing(restore, target);
    if (what === undefined && isPast(restore, target, 'started')) return [];
    return [
      {
        summary:
          `wait until ${target.host.name} serves the restored data (found ` +
          `${what ?? 'the data from before the restore'})`,
      },
    ];
  },
});

/** Records that the host serves. Runs only when all hosts serve: until then the same command continues the restore. */
export const served = (restore: Restore): Step =>
  stageStep(
    restore,
    'etcd-restore-ended',
    'served',
    (host) => `note that ${host.name} serves the restored data`,
    (on, { host }) => on(host).run(noting(restore, sh`:`, 'served')),
  );

/** True if etcd serves the restored data: the restored members have ids that no other etcd has. */
function hasRestoredMembers({ members, ...restore }: Restore, { fleet: { cluster } }: Target): boolean {
  const served = cluster.state === 'up' ? cluster.members : [];
  return members.every((host) => served.some(({ id }) => id === restoredMemberId(restore, host)));
}

/** Removes the host's marker of the restore. Runs only when all hosts are recorded as `served`. */
export const forgotten = (restore: Restore): Step => ({
  name: 'etcd-restore-forgotten',
  settleMs: SERVES_WITHIN_MS,
  diff: (target) => {
    const { host } = target;
    if (stageOf(restore, target) === -1 && (restore.hasEnded === true || hasRestoredMembers(restore, target)))
      return [];
    return [
      {
        summary: `remove the note of the restore from ${host.name}`,
        apply: async (on) => {
          await on(host).run(markerAway());
        },
      },
    ];
  },
});
