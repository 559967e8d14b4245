import { lostCluster } from '../backup/lost-cluster.ts';
import { type Fleet, type Kinds, linuxFacts, observedLinux, type Surveys } from '../cluster/fleet/fleet.ts';
import { changeRefusals, type Moving } from '../cluster/host.refusal.ts';
import { refusedWorkers } from '../cluster/joined.refusal.ts';
import { type Joining, refusals } from '../cluster/up.refusal.ts';
import { checks, surveyChecks } from '../commands/every.checks.ts';
import { type CheckedFinding, runChecks, stops } from '../engine/check.ts';
import { refuseLocked } from '../engine/lock.ts';
import { ChecksFailed, combined, ConnectError, type KbuildError, SeveralErrors, throwAll } from '../errors.ts';
import { etcdFolderOf } from '../etcd/etcd.facts.ts';
import { EXIT } from '../exit-codes.ts';
import { diskSync, overlayTrial } from '../host/disk.survey.ts';
import { clientsOf, listeningPorts } from '../host/openings.value.ts';
import { supportedDistribution } from '../host/packages/distributions.value.ts';
import { downloads, type Wanted } from '../host/packages/downloads.survey.ts';
import { inBothFamilies, portMatrix, type Way } from '../host/ports.survey.ts';
import { inventoryOn } from '../inventory/hosts.ts';
import type { Inventory, LinuxHost } from '../inventory/inventory.ts';
import { failedText, findingsText } from '../report/findings.ts';
import { findingsNote, portsNote } from '../report/record/notes.ts';
import { dataFolderOf } from '../runtime/runtimes.value.ts';
import { wantedDownloads } from './downloads.ts';
import type { Run } from './run.ts';
import { missingHosts } from './selection.ts';

type Seen = Kinds['linux'];

/** True for a host that kubeadm has not changed. */
const isFresh = ({ facts }: Seen): boolean => facts.kubernetesTraces.size === 0;

/** The ways between reachable hosts that start or end at one of the hosts in `about`. */
function neededWays(inventory: Inventory, fleet: Fleet, about: readonly Seen[]): readonly Way[] {
  const reached = observedLinux(fleet);
  const meant = new Set(about.map(({ host }) => host.name));
  return reached.flatMap(({ host, facts }) =>
    listeningPorts(inventory, host).flatMap(({ port, protocol, program, from }): readonly Way[] => {
      const clients = clientsOf(inventory, host, from).filter(
        (client): client is LinuxHost => client.os === 'linux' && linuxFacts(fleet, client) !== undefined,
      );
      const needed = clients.filter(({ name }) => meant.has(host.name) || meant.has(name));
      const held = facts.listeners.some((listener) => listener.port === port && listener.protocol === protocol);
      const free = isFresh({ host, facts }) && !held;
      return needed.length === 0 ? [] : inBothFamilies({ to: host, port, protocol, program, from: needed, free });
    }),
  );
}

/** Why a host cannot download anything yet; undefined: it can. */
function notYet(seen: Seen, wanted: readonly Wanted[]): string | undefined {
  if (supportedDistribution(seen.facts) === undefined)
    return 'downloads were not asked for: the system is not supported';
  const tls = wanted.some(({ urls }) => urls.some((url) => url.startsWith('https:')));
  return tls && !seen.facts.packages.has('ca-certificates')
    ? 'downloads were not asked for: up first installs the certificates of public authorities (ca-certificates)'
    : undefined;
}

/**
 * Surveys some hosts: the ways between them and all other hosts, and on fresh hosts the disks for etcd and the
 * downloads. Disturbs nothing that runs: it only connects to a port that a process holds, and skips a disk that holds
 * etcd. @throws Refused when another run holds the lock of a host: it may open a port there at any moment.
 */
export async function survey({ connected, inventory, note }: Run, about: readonly Seen[]): Promise<Surveys> {
  const fleet = connected.observations.fleet();
  const { on } = connected;
  const names = new Set(about.map(({ host }) => host.name));
  await refuseLocked(connected.remotes.filter(({ host }) => names.has(host.name)));
  const reached = observedLinux(fleet).map(({ host }) => host);
  const etcd = about.filter(({ host }) => host.role === 'control-plane' || host.role === 'etcd');
  const fresh = about.filter(isFresh).map((seen) => ({ ...seen, wanted: wantedDownloads(inventory, seen) }));
  const ways = neededWays(inventory, fleet, about);
  const [ports, disks, overlays, got] = await Promise.all([
    portMatrix(on, reached, ways),
    diskSync(
      on,
      etcd.filter(isFresh).map(({ host }) => host),
      etcdFolderOf(inventory),
    ),
    overlayTrial(
      on,
      fresh.filter(({ host }) => host.role !== 'load-balancer').map(({ host }) => host),
      (host) => dataFolderOf(inventoryOn(inventory, host)),
    ),
    downloads(
      on,
      fresh.filter((seen) => notYet(seen, seen.wanted) === undefined),
      inventory.proxy,
    ),
  ]);
  note(portsNote(ways, ports));
  return {
    ports,
    overlays,
    disks: [
      ...disks,
      ...etcd.flatMap((seen) => (isFresh(seen) ? [] : [{ host: seen.host, skipped: 'etcd runs there' }])),
    ],
    downloads: [
      ...got,
      ...fresh.flatMap((seen) => {
        const skipped = notYet(seen, seen.wanted);
        return skipped === undefined ? [] : [{ host: seen.host, skipped }];
      }),
    ],
  };
}

/** The fresh hosts among those with pending changes: `up` is about to change them for the first time. */
const firstChanged = ({ connected }: Run, changed: ReadonlySet<string>): readonly Seen[] =>
  observedLinux(connected.observations.fleet()).filter((seen) => isFresh(seen) && changed.has(seen.host.name));

/**
 * Leaves out workers that `up` refuses, as if they could not be reached. The other hosts go on; the exit code is that
 * of the refusal. @throws Refused where the workers show that all control planes are lost
 */
export function leaveOutRefused({ connected, emit, flags, inventory }: Run): void {
  const lost = lostCluster(inventory, connected.observations.fleet());
  if (lost !== undefined) throw lost;
  const refused = refusedWorkers(inventory, connected.observations.fleet(), flags.hosts);
  if (refused.length === 0) return;
  for (const { host, error } of refused) {
    emit({ kind: 'left-out', host: host.name, message: error.message });
  }
  connected.leaveOut(refused);
}

/** @throws Refused when the live cluster, or one of these hosts, is not the inventory's to change. */
export function refuseForeign(
  { connected, inventory }: Pick<Run, 'connected' | 'inventory'>,
  names: readonly string[],
  moving: Moving = 'moves none',
): void {
  throwAll(changeRefusals(inventory, connected.observations.fleet(), names, moving));
}

const JOINS_NONE: ReadonlySet<string> = new Set(['upgrade', 'reboot']);

/** A control plane that waits to join must not keep `upgrade` from finishing what it waits for. */
const joiningOf = ({ command }: Pick<Run, 'command'>): Joining =>
  JOINS_NONE.has(command) ? 'joins none' : 'joins hosts';

/**
 * The same for commands that do a part of what `up` does. @throws Refused where `up` may not change this cluster, by
 * the last observation; the errors of control planes that must answer before one is created
 */
export function refuseAsUp(run: Pick<Run, 'command' | 'connected' | 'inventory' | 'flags'>): void {
  throwAll(refusals(run.inventory, run.connected.observations.fleet(), run.flags.hosts, joiningOf(run)));
}

/** All findings about the fleet as observed. `--ignore-check` and `ignoreChecks:` lower a finding to a warning. */
export function findings({ connected, inventory, flags, note }: Run, surveys?: Surveys): readonly CheckedFinding[] {
  const ignored = [...inventory.ignoreChecks, ...(flags.ignoreCheck ?? [])];
  const fleet = connected.observations.fleet();
  const found = runChecks(checks, { inventory, fleet: surveys === undefined ? fleet : { ...fleet, surveys } }, ignored);
  note(findingsNote(found));
  return found;
}

/** The error of findings that stop a run. */
const failed = (bad: readonly CheckedFinding[], remedy: string): ChecksFailed =>
  new ChecksFailed(`${failedText(bad)}; nothing was changed\n${findingsText(bad).trimEnd()}`, { remedy });

/**
 * Why these hosts will not tell what they did not tell, however often they are asked; undefined: no check knows.
 * A check that is ignored is asked too: ignoring it makes no host tell more.
 */
export function whyUntold(
  { connected, inventory }: Pick<Run, 'connected' | 'inventory'>,
  hosts: ReadonlySet<string>,
): ChecksFailed | undefined {
  const explaining = checks.filter(({ explainsUnknown }) => explainsUnknown === true);
  const found = runChecks(explaining, { inventory, fleet: connected.observations.fleet() });
  const bad = found.filter(({ host, severity }) => severity === 'error' && host !== undefined && hosts.has(host));
  return bad.length === 0 ? undefined : failed(bad, 'mend that, then run the same command again');
}

/**
 * The error that stops a run before it changes anything; undefined: none. The most serious comes first: a refusal (7),
 * a failed check (6), an unreachable host that the cluster depends on (3).
 */
export function obstacles(run: Run, found: readonly CheckedFinding[]): KbuildError | undefined {
  const fleet = run.connected.observations.fleet();
  const reasons = refusals(run.inventory, fleet, run.flags.hosts, joiningOf(run));
  const refused = reasons.filter(({ exitCode }) => exitCode === EXIT.refused);
  if (refused.length > 0) return combined(refused);
  // Unreachable hosts have their own error, below.
  const bad = found.filter((finding) => stops(finding) && finding.check !== 'reachable');
  if (bad.length > 0) return failed(bad, 'mend them, or lower one to a warning with --ignore-check NAME');
  return missingHosts(run) ?? (reasons.length > 0 ? combined(reasons) : undefined);
}

/** Findings without those about unreachable hosts that the error at the end of the command names. */
export function withoutNamed(
  found: readonly CheckedFinding[],
  obstacle: KbuildError | undefined,
): readonly CheckedFinding[] {
  const errors: readonly Error[] = obstacle instanceof SeveralErrors ? obstacle.errors : [];
  const named = new Set(errors.flatMap((error) => (error instanceof ConnectError ? error.host : [])));
  return found.filter(({ check, host }) => check !== 'reachable' || host === undefined || !named.has(host));
}

/** Shows warnings. @throws what stops the run before it changes anything */
export function refuseObstacles(run: Run, found: readonly CheckedFinding[]): void {
  const { context, flags } = run;
  const warnings = found.filter(({ severity }) => severity === 'warning');
  if (warnings.length > 0 && flags.quiet !== true) context.err(findingsText(warnings));
  const obstacle = obstacles(run, found);
  if (obstacle !== undefined) throw obstacle;
}

/**
 * Surveys the fresh hosts among those with pending changes, and shows what was found. Does nothing if none is fresh.
 * @throws ChecksFailed
 */
export async function surveyFirstChanged(run: Run, changed: ReadonlySet<string>): Promise<void> {
  const first = firstChanged(run, changed);
  if (first.length === 0) return;
  const { context, flags } = run;
  if (flags.quiet !== true) context.err(`surveying ${String(first.length)} fresh hosts\n`);
  const found = findings(run, await survey(run, first));
  refuseObstacles(
    run,
    found.filter(({ check }) => surveyChecks.some(({ name }) => name === check)),
  );
}
