import { refusedWorkers } from '../cluster/change-refusals.ts';
import { plan } from '../engine/plan.ts';
import { UsageError, worstExitCode } from '../errors.ts';
import { up } from '../phases/up.ts';
import { jsonDocument } from '../report/json.ts';
import { mermaid } from '../report/mermaid.ts';
import { statusText, type Status } from '../report/status.ts';
import { statusOf } from '../report/status-view.ts';
import { troubleOf } from '../windows/signatures.ts';
import type { StatusOptions } from './commands/status.ts';
import type { Context } from './context.ts';
import type { Run } from './session/run.ts';
import { withRun } from './session/with-run.ts';
import { reachedPhases } from './session/run-plan.ts';
import { watchStatus } from './watch-status.ts';

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

function shownStatus(run: Run, flags: StatusOptions, status: Status): string {
  if (flags.json === true) return jsonDocument<'status'>(status);
  if (flags.graph !== undefined) return mermaid(run.inventory, status);
  return statusText(status, run.context.nowMs());
}

/** `kbuild status`: the cluster as it is, whether it is healthy, and where it differs from the inventory. Reads only. */
export function runStatus(outer: Context, flags: StatusOptions): Promise<number> {
  checkFlags(flags);
  const isEndless = flags.watch === true;
  return withRun(
    outer,
    flags,
    { command: 'status', json: 'document', reportsUnreachable: true, alwaysBundles: true, isEndless },
    (run) => {
      if (isEndless) return watchStatus(run, flags, () => statusNow(run));
      const { context, connected } = run;
      const status = statusNow(run);
      context.out(shownStatus(run, flags, status));
      const { unreachable } = connected.observations.fleet();
      return Promise.resolve(
        exitOf(
          status,
          unreachable.map(({ error }) => error),
        ),
      );
    },
  );
}
