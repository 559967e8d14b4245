import { refusedWorkers } from '../cluster/joined.refusal.ts';
import { plan } from '../engine/plan.ts';
import { ifKnown, UsageError, worstExitCode } from '../errors.ts';
import type { Inventory } from '../inventory/inventory.ts';
import { unreachableText } from '../report/failure.ts';
import { jsonDocument } from '../report/json.ts';
import { mermaid } from '../report/mermaid.ts';
import { controlPlaneHosts, earlyStatusText, statusOf } from '../report/status-view.ts';
import { type Status, statusText } from '../report/status.ts';
import type { Context } from '../session/context.ts';
import type { SeenFirst } from '../session/observe.ts';
import { reachedPhases, type Run } from '../session/run.ts';
import { sameCommand } from '../session/selection.ts';
import { withRun } from '../session/with-run.ts';
import { troubleOf } from '../windows/problems/problems.ts';
import { watchStatus } from './status-watch.ts';
import type { StatusOptions } from './status.command.ts';
import { up } from './up.phases.ts';

const NOT_HEALTHY = 5;
const NOT_READ = 3;

/** What `up` would change, and the workers that it would leave out. Empty if no cluster answers: that is not drift. */
function driftOf(run: Run): readonly string[] {
  const { inventory, connected } = run;
  const fleet = connected.observations.fleet();
  if (fleet.cluster.state !== 'up') return [];
  const refused = refusedWorkers(inventory, fleet, undefined);
  const isLeftOut = ({ host }: { readonly host: string }): boolean =>
    refused.some((worker) => worker.host.name === host);
  const { changes, errors } = plan(reachedPhases(run, up(inventory)), inventory, fleet);
  return [
    ...changes.filter((change) => !isLeftOut(change)).map(({ host, summary }) => `${host}: ${summary}`),
    ...errors.filter((failure) => !isLeftOut(failure)).map(({ error }) => error.message),
    ...refused.map(({ error }) => error.message),
    ...fleet.unreachable.map(({ error }) => error.message),
  ];
}

const troubles = ({ inventory, connected }: Run): Status['trouble'] =>
  troubleOf(inventory, connected.observations.fleet()).map(({ host, found, signature: { name, cause, remedy } }) => ({
    host,
    name,
    found,
    cause,
    remedy,
  }));

/** 0: healthy; 3: a host could not be reached, or a fact not read; 5: not healthy. The same for text and JSON. */
function exitOf({ problems }: Status, unreachable: readonly Error[]): number {
  const missing = worstExitCode(unreachable);
  if (missing !== 0) return missing;
  if (problems.some(({ kind }) => kind === 'unknown')) return NOT_READ;
  return problems.length > 0 ? NOT_HEALTHY : 0;
}

/** The status as one control plane shows the cluster. What only the other hosts know is not in it. */
function statusThroughOne({ inventory, connected }: Run): Status {
  const fleet = connected.observations.fleet();
  const seen = [...fleet.hosts, ...fleet.unreachable].map(({ host }) => host.name);
  const notObserved = inventory.hosts.map(({ name }) => name).filter((name) => !seen.includes(name));
  return { ...statusOf(inventory, fleet, { drift: [], trouble: [] }), notObserved };
}

/** The status as the fleet was observed last. */
function statusNow(run: Run): Status {
  const { inventory, connected } = run;
  const fleet = connected.observations.fleet();
  return statusOf(inventory, fleet, {
    drift: driftOf(run),
    trouble: fleet.cluster.state === 'up' ? troubles(run) : [],
  });
}

/** @throws UsageError for options that do not go together */
function checkFlags({ every, graph, json, watch }: StatusOptions): void {
  if (graph !== undefined && graph !== 'mermaid')
    throw new UsageError(`--graph "${graph}": the only format is mermaid`, { remedy: 'kbuild status --graph mermaid' });
  if (graph !== undefined && json === true) throw new UsageError('--graph and --json cannot be combined');
  if (every !== undefined && watch !== true)
    throw new UsageError('--every belongs to --watch', { remedy: 'kbuild status --watch --every 10s' });
}

function shownStatus(run: Run, flags: StatusOptions, status: Status, nowMs: number): string {
  if (flags.json === true) return jsonDocument<'status'>(status);
  if (flags.graph !== undefined) return mermaid(run.inventory, status);
  return statusText(status, nowMs, controlPlaneHosts(run.inventory));
}

/** Shows what the control plane tells at once, and the whole when all hosts have told the rest. */
export function inTwoParts(nowMs: number) {
  let shown = '';
  return {
    early: (out: Context['out'], inventory: Inventory, { view, hosts }: SeenFirst): void => {
      if (shown !== '') return;
      shown = ifKnown(() => earlyStatusText(inventory, view, hosts, nowMs), '');
      if (shown !== '') out(shown);
    },
    // Another control plane may have been asked meanwhile, because of what the hosts told.
    rest: (text: string): string => (text.startsWith(shown) ? text.slice(shown.length) : `\n${text}`),
  };
}

/** What leads on from a status; empty where nothing is to be done, or hosts must be reached first. */
function nextText(run: Run, { drift, problems, version }: Status): string {
  const { cluster, unreachable } = run.connected.observations.fleet();
  if (unreachable.length > 0) return '';
  const next = (command: string): string => `next: ${sameCommand(run, command)}\n`;
  if (cluster.state === 'absent') return next('up');
  if (version !== '' && drift.length > 0) return next('plan');
  return problems.length > 0 ? next('check') : '';
}

/** `kbuild status`: the cluster, whether it is healthy, and where it differs from the inventory. Reads only. */
export function runStatus(outer: Context, { hosts, ...flags }: StatusOptions): Promise<number> {
  checkFlags(flags);
  const isEndless = flags.watch === true;
  const isThroughOne = hosts === false;
  const nowMs = outer.nowMs();
  const { early, rest } = inTwoParts(nowMs);
  const isText = !isEndless && flags.json !== true && flags.graph === undefined;
  return withRun(
    outer,
    flags,
    {
      ...{ command: 'status', json: 'document', reportsUnreachable: true, alwaysBundles: true },
      ...{ isEndless, isThroughOne, onCluster: isText ? early : undefined },
    },
    (run) => {
      if (isEndless) return watchStatus(run, flags, () => statusNow(run));
      const { context, connected } = run;
      const status = isThroughOne ? statusThroughOne(run) : statusNow(run);
      context.out(rest(shownStatus(run, flags, status, nowMs)));
      const { unreachable } = connected.observations.fleet();
      context.err(unreachableText(unreachable));
      if (isText) context.err(nextText(run, status));
      const errors = unreachable.map(({ error }) => error);
      return Promise.resolve(exitOf(status, errors));
    },
  );
}
