import { chmod, readdir, rm, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { linuxFacts } from '../cluster/fleet/fleet.ts';
import { memberHost } from '../cluster/member-host.ts';
import type { BeforeMembership, KeepData } from '../cluster/members.ts';
import { keepData, saveSnapshot, type SnapshotStatus } from '../etcd/snapshot.ts';
import type { LinuxHost } from '../inventory/inventory.ts';
import { paths } from '../paths.ts';
import { makeFolder } from '../report/files.ts';
import { stamp, stateFolder } from '../session/context.ts';
import type { Run } from '../session/run.ts';
import { sh } from '../shell/sh.ts';
import type { On } from '../ssh/remote.ts';
import type { KeepBefore } from '../upgrade/control-plane.step.ts';

/** What a retention may delete. */
interface Retention {
  /** How many files stay. */
  readonly keep: number;
  /** Names of files that this run wrote: they stay, whatever their names sort after. */
  readonly written: ReadonlySet<string>;
}

/**
 * Deletes the oldest of these files by their names, which end with the time, until `keep` are left. A file that this
 * run wrote is never one of them: a clock that was ahead once, or that of another machine, gives older files later
 * names. Returns the names of the deleted files.
 */
export async function keepNewest(
  folder: string,
  names: readonly string[],
  { keep, written }: Retention,
): Promise<readonly string[]> {
  const others = names.filter((name) => !written.has(name)).toSorted();
  const room = Math.max(0, keep - (names.length - others.length));
  const old = others.slice(0, Math.max(0, others.length - room));
  for (const name of old) await rm(join(folder, name), { force: true });
  return old;
}

/** Prefix of snapshots that kbuild takes by itself. It keeps the newest. */
const AUTOMATIC = 'auto-';
/** Prefix of etcd's data of hosts on which a half-finished init or join was undone. */
const UNDONE = 'undone-';
const KEPT = 5;

/** Where snapshots of a cluster go unless the operator names a file. */
export const snapshotFolder = ({ context, inventory }: Pick<Run, 'context' | 'inventory'>): string =>
  join(stateFolder(context, inventory.name), 'snapshots');

/** The folder of etcd's data on a host. @throws FactError where it cannot be read. */
const folderOf = ({ connected }: Run, host: LinuxHost): string =>
  linuxFacts(connected.observations.fleet(), host)?.etcdFolder ?? paths.etcdData;

/** Names of the files that each run has written here: no retention deletes them before the run ends. */
const writtenBy = new WeakMap<Run['connected'], Set<string>>();

/**
 * Deletes all but the newest five files of a prefix, and none that this run wrote. `path`: the file that was just
 * written.
 */
async function deleteOld({ connected }: Run, path: string, prefix: string, ending = '.db'): Promise<void> {
  const written = (writtenBy.get(connected) ?? new Set()).add(basename(path));
  writtenBy.set(connected, written);
  const folder = dirname(path);
  const all = (await readdir(folder)).filter((name) => name.startsWith(prefix) && name.endsWith(ending));
  for (const name of await keepNewest(folder, all, { keep: KEPT, written }))
    await rm(join(folder, `${name}.json`), { force: true });
}

/** Saves a verified snapshot through a host's member to a local file, 0600, and nothing beside it. */
export const snapshotAlone = (run: Run, control: LinuxHost, path: string): Promise<SnapshotStatus> =>
  saveSnapshot(run.inventory, run.connected.on(control), folderOf(run, control), path, run.runId);

/** Saves a verified snapshot, and beside it a file that describes it. */
export async function snapshotTo(
  run: Run,
  on: On,
  control: LinuxHost,
  path: string,
  reason: string,
): Promise<SnapshotStatus> {
  const status = await saveSnapshot(run.inventory, on(control), folderOf(run, control), path, run.runId);
  await describe(run, path, { through: control.name, reason, ...status });
  return status;
}

/** Makes a file of etcd's data readable by the operator alone, and writes beside it a file that describes it. */
async function describe(run: Run, path: string, what: object): Promise<void> {
  const { context, inventory } = run;
  const { cluster } = run.connected.observations.fleet();
  await chmod(path, 0o600);
  const about = {
    cluster: inventory.name,
    ca: cluster.state === 'up' ? cluster.caFingerprint : undefined,
    // While the CA is rotated there are two.
    ...(cluster.state === 'up' && cluster.otherCas.length > 0 ? { otherCas: cluster.otherCas } : {}),
    kubernetes: cluster.state === 'up' ? cluster.version : undefined,
    taken: new Date(context.nowMs()).toISOString(),
    ...what,
  };
  await writeFile(`${path}.json`, `${JSON.stringify(about, undefined, 2)}\n`, { mode: 0o600 });
}

/** Takes a snapshot before every change of etcd's members. Keeps the newest five, and all that this run took. */
export const snapshotBefore =
  (run: Run): BeforeMembership =>
  async (on, control, reason) => {
    const folder = snapshotFolder(run);
    makeFolder(folder);
    const path = join(folder, `${AUTOMATIC}${stamp(run.context.nowMs())}.db`);
    await snapshotTo(run, on, control, path, reason);
    await deleteOld(run, path, AUTOMATIC);
  };

/**
 * Keeps what a way back from an upgrade needs, or from another change of all control planes: before each version a
 * snapshot of etcd, and of each host /etc/kubernetes, 0600. A snapshot for every host would push that from before the
 * upgrade out of the newest five. Keeps the newest five copies of each host.
 */
export function keptBefore(run: Run, reasonOf = (version: string) => `before the upgrade to ${version}`): KeepBefore {
  const { inventory, connected, context } = run;
  const folder = snapshotFolder(run);
  const versions = new Set<string>();
  return async (on, host, version) => {
    makeFolder(folder);
    // Of an etcd that is the operator's own, the operator keeps snapshots. One that does not answer gives none.
    const isUp = connected.observations.fleet().cluster.state === 'up';
    if (isUp && inventory.etcd.topology !== 'external' && !versions.has(version)) {
      const through = memberHost(inventory, connected.observations.fleet());
      await snapshotBefore(run)(on, through, reasonOf(version));
      versions.add(version);
    }
    const remote = on(host);
    const archive = paths.keptKubernetes;
    // No name of a host has an @: the copies of cp1 are not those of cp1-b.
    const prefix = `etc-kubernetes-${host.name}@`;
    const to = join(folder, `${prefix}${stamp(context.nowMs())}.tar`);
    try {
      // kubeadm keeps its own backups in tmp, etcd's data among them.
      await remote.run(
        sh`umask 077; mkdir -p ${paths.run}; rm -f ${archive}; tar -C /etc -cf ${archive} --exclude=kubernetes/tmp kubernetes`,
      );
      await remote.download(archive, to);
    } finally {
      await remote.run(sh`rm -f -- ${archive}`);
    }
    await chmod(to, 0o600);
    await deleteOld(run, to, prefix, '.tar');
  };
}

/**
 * Keeps a host's etcd data before a half-finished init or join is undone there. Keeps the newest five, and emits the
 * path.
 */
export const dataKept =
  (run: Run): KeepData =>
  async (on, host) => {
    const folder = snapshotFolder(run);
    makeFolder(folder);
    const path = join(folder, `${UNDONE}${stamp(run.context.nowMs())}-${host.name}.db`);
    const kept = await keepData(run.inventory, on(host), folderOf(run, host), path, run.runId);
    if (kept === undefined) return;
    const reason = `before what was half-finished on ${host.name} was undone`;
    await describe(run, path, {
      through: host.name,
      reason,
      as: kept.as,
      ...(kept.as === 'snapshot' ? kept.status : {}),
    });
    const how = kept.as === 'snapshot' ? 'a snapshot' : 'a copy, for etcdutl snapshot restore --skip-hash-check';
    run.emit({ kind: 'noted', host: host.name, summary: `etcd's data is kept in ${path} (${how})` });
    await deleteOld(run, path, UNDONE);
  };
