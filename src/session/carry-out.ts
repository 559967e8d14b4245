import type { Outcome as Converged } from '../engine/converge.ts';
import { runHooks, runHooksAfter } from '../engine/hooks.ts';
import type { Lock } from '../engine/lock.ts';
import { changeId, changesIn } from '../engine/plan.ts';
import { restartsOf } from '../engine/restarts.ts';
import type { Phase } from '../engine/step.ts';
import { CommandError, exitCodeOf, FactError, mostSerious, NotConverged, refusalOf, worstExitCode } from '../errors.ts';
import type { Host } from '../inventory/inventory.ts';
import { failuresText, knownCause, textsOf } from '../report/failure.ts';
import { planText } from '../report/plan.ts';
import { planNote } from '../report/record/notes.ts';
import { isWindowsRemote } from '../ssh/windows.ts';
import { script } from '../templates.ts';
import { lastWordsOfWindows } from '../windows/support.ts';
import { gathered, withDenials } from './end-report.ts';
import { isObservationCurrent, withLocks } from './locks.ts';
import { DEFAULT_CONCURRENCY } from './options.ts';
import { GO_ON } from './output.ts';
import { refuseForeign } from './preflight.ts';
import { asTold } from './as-told.ts';
import { confirmed, type Plannable, planNow, type Run, type RunPlan } from './run.ts';

const LINES = 20;
const PATIENCE_MS = 30_000;

/** How many hosts' logs are fetched at most: if the whole fleet fails, a few of them show the cause. */
const MAX_HOSTS = 5;

/**
 * Reports the failure of each host, with its known cause and the last lines of the host's logs where they may explain
 * it. Returns the settings of the inventory that are causes.
 */
export async function reportFailures(run: Run, failures: ReadonlyMap<string, Error>): Promise<readonly string[]> {
  const asked = [...failures].filter(([, error]) => isInLogs(error)).slice(0, MAX_HOSTS);
  const words = new Map(
    await Promise.all(asked.map(async ([host]): Promise<[string, string]> => [host, await lastWords(run, host)])),
  );
  const reports = [...failures].map(([host, error]) => ({ host, error, lastWords: words.get(host) ?? '' }));
  for (const report of reports) {
    const { host, error, lastWords: last } = report;
    const [, cause, remedy] = textsOf(report);
    run.note({
      kind: 'failure',
      host,
      message: error.message,
      cause,
      remedy,
      lastWords: last,
      exitCode: exitCodeOf(error),
      ...refusalOf(error),
    });
    run.log({ kind: 'failure', host: report.host, text: failuresText([report]), lastWords: report.lastWords });
  }
  if (reports.length > 0) run.context.err(failuresText(reports));
  return [...new Set(reports.flatMap((report) => knownCause(report)?.setting ?? []))];
}

/** The last line where the same command would fail again. */
const changeFirst = (settings: readonly string[]): string =>
  `first change ${settings.join(' and ')}, then run the same command again`;

/** True if the host's logs may explain the error: they hold what kubeadm, the kubelet and etcd did. */
const isInLogs = (error: Error): boolean =>
  (error instanceof NotConverged && error.remedy === undefined) ||
  // An error that has a remedy needs no logs.
  (error instanceof CommandError &&
    (error.remedy === undefined || error.status === 'timeout') &&
    /kube|etcd/i.test(`${error.command} ${error.stderr}`));

async function lastWords(run: Run, host: string): Promise<string> {
  const remote = run.connected.remotes.find((candidate) => candidate.host.name === host);
  if (remote === undefined) return '';
  let timer: NodeJS.Timeout | undefined;
  const patience = new Promise<string>((resolve) => {
    timer = setTimeout(() => resolve(''), PATIENCE_MS);
  });
  const title = 'fetch the last words';
  const asking = isWindowsRemote(remote)
    ? gathered(remote, lastWordsOfWindows, title)
    : remote.run({ ...withDenials(run, script('session/last-words.sh', { LINES, PODS: '/var/log/pods' })), title });
  return Promise.race([asking.catch(() => ''), patience]).finally(() => clearTimeout(timer));
}

const REFUSED = 7;

/** What a command does with the hosts that it has locked. */
export interface Work extends Plannable {
  /** The phases bring joined hosts to the runtime that the inventory names. */
  readonly movesRuntimes?: true;
  /** Hosts that it may change though they are foreign: the operator typed their names. */
  readonly typedHosts?: ReadonlySet<string>;
  /**
   * True: changes beyond the plan need no confirmation, because the operator typed the name of all that is destroyed.
   */
  readonly mayGrow?: true;
  /** How many workers may be disrupted at once, where the operator said it. */
  readonly workersAtOnce?: number | undefined;
  /** True for a restore: afterwards the API serves the Lease that the snapshot holds. */
  readonly replacesData?: true;
  /** Called under the locks after a failure: removes what the run prepared and no longer needs. */
  readonly afterFailure?: () => Promise<void>;
}

/** How it ended. */
export interface Outcome {
  /** The exit code; 0 if nothing failed. */
  readonly code: number;
  /** True if everything was carried out. False after a failure, and if the operator declined a plan that grew. */
  readonly isDone: boolean;
}

/** True if the operator is asked about changes beyond the plan. */
const isAsked = ({ flags, context }: Run, { mayGrow }: Work): boolean =>
  mayGrow !== true && flags.yes !== true && context.canAsk;

/** Asks about changes beyond the plan. */
const approved = async (run: Run, { mayGrow }: Work, question: string): Promise<boolean> =>
  mayGrow === true || confirmed(run, question);

/** The fleet may have changed before the locks were taken. @throws Refused for a host that became foreign */
function refuseForeignHosts(run: Run, phases: readonly Phase[], { typedHosts, movesRuntimes }: Work): void {
  const names = new Set(phases.flatMap(({ hosts }) => hosts.map(({ name }) => name)));
  const asked = [...names].filter((name) => typedHosts?.has(name) !== true);
  if (asked.length > 0) refuseForeign(run, asked, movesRuntimes === true ? 'moves runtimes' : 'moves none');
}

/**
 * What is due by what the hosts show under the locks. What a host or the API does not tell is observed again: the
 * agreed plan knew it a moment ago. @throws FactError if it is still unknown after `UNTOLD_MS`; Refused for a host that
 * became foreign, and for what the command refuses by now
 */
function dueUnderLock(run: Run, work: Work, lock: Lock): Promise<RunPlan> {
  const { connected, context } = run;
  // A restore goes on without the API.
  const wasUp = work.replacesData !== true && connected.observations.fleet().cluster.state === 'up';
  const isCurrent = isObservationCurrent(
    connected.observations.fleet(),
    lock,
    context.nowMs() - connected.observedAtMs,
  );
  const refuse = async (): Promise<void> => {
    const { cluster } = connected.observations.fleet();
    // A busy API is not one that is down, which commands refuse.
    if (wasUp && cluster.state === 'down') throw new FactError('cluster', 'its state', cluster.reason);
    await work.refuse();
    refuseForeignHosts(run, work.phases(), work);
  };
  return asTold(run, () => planNow(run, { ...work, refuse }), isCurrent);
}

/** The plan under the locks; undefined if it grew and the operator declines. */
async function planUnderLock(run: Run, work: Work, agreed: RunPlan, lock: Lock): Promise<RunPlan | undefined> {
  const { context, inventory } = run;
  const { phases, changes } = await dueUnderLock(run, work, lock);
  const known = new Set(changesIn(agreed.changes).map(changeId));
  const beyond = changesIn(changes).filter((change) => !known.has(changeId(change)));
  if (beyond.length > 0) {
    context.err(`the plan grew meanwhile:\n${planText(phases, beyond, restartsOf(inventory, beyond))}`);
    if (!(await approved(run, work, 'Carry out these too?'))) return undefined;
  }
  const plan = { phases, changes: [...agreed.changes, ...beyond] };
  if (beyond.length > 0) run.note(planNote(inventory, plan));
  return plan;
}

/** A work that is done once for each host, however often it is asked for. */
function onceForEachHost(work: (host: Host) => Promise<void>): (host: Host) => Promise<void> {
  const begun = new Map<string, Promise<void>>();
  return (host) => {
    const running = begun.get(host.name) ?? work(host);
    begun.set(host.name, running);
    return running;
  };
}

async function convergeOn(run: Run, work: Work, { phases, changes }: RunPlan, lock: Lock): Promise<Converged> {
  const { connected, context, flags, inventory, emit, signal } = run;
  // listr2 takes time to load, and most commands end before they need it.
  const { converge } = await import('../engine/converge.ts');
  return converge({
    inventory,
    phases,
    observations: connected.observations,
    on: connected.on,
    held: async (host) => {
      const ended = run.beginWait({ what: 'lock', host, summary: 'its lock, or that of another host, was lost' });
      try {
        return await lock.held(host);
      } finally {
        ended();
      }
    },
    // Who agreed to wait for something has not agreed to what may be found then.
    planned: new Set(changesIn(changes).map(changeId)),
    approve: (summary) => approved(run, work, `${summary}\nThis was not in the plan. Do it?`),
    asks: isAsked(run, work),
    beforeChange: onceForEachHost((host) => runHooks(inventory, 'beforeChange', host, connected.on)),
    emit,
    display: await run.display(phases),
    onTurn: (host) => run.beginWait({ what: 'turn', host, summary: 'its turn: other hosts are disrupted first' }),
    concurrency: flags.concurrency ?? DEFAULT_CONCURRENCY,
    workersAtOnce: work.workersAtOnce,
    signal,
    nowMs: context.nowMs,
    sleep: context.sleep,
  });
}

/**
 * Reports the failures of hosts; returns the exit code. @throws why the run was stopped, if nothing more serious
 * happened
 */
async function codeOf(run: Run, { failures, stopped }: Converged): Promise<number> {
  const { context, logPath } = run;
  const settings = await reportFailures(run, failures);
  const code = worstExitCode([...failures.values()]);
  if (stopped !== undefined && mostSerious([code, exitCodeOf(stopped)]) === exitCodeOf(stopped)) throw stopped;
  if (stopped !== undefined) context.err(`${stopped.message}\n`);
  if (code !== 0) context.err(`full log: ${logPath}\n`);
  // The same command would be refused again.
  if (code !== 0 && code !== REFUSED) context.err(`${settings.length === 0 ? GO_ON : changeFirst(settings)}\n`);
  return code;
}

async function carryOutLocked(run: Run, work: Work, agreed: RunPlan, lock: Lock): Promise<Outcome> {
  const plan = await planUnderLock(run, work, agreed, lock);
  if (plan === undefined) return { code: 0, isDone: false };
  const code = await codeOf(run, await convergeOn(run, work, plan, lock));
  return { code, isDone: code === 0 };
}

const carriedOut = (run: Run, work: Work, agreed: RunPlan): Promise<Outcome> =>
  withLocks(run, work.replacesData, async (lock) => {
    const lost: Error[] = [];
    void lock.lost.then((error) => lost.push(error));
    // Without the locks, another run may already work on what this one prepared.
    const afterFailure = async (): Promise<void> => (lost.length > 0 ? undefined : work.afterFailure?.());
    const outcome = await carryOutLocked(run, work, agreed, lock).catch(async (error: unknown) => {
      await afterFailure();
      throw error;
    });
    if (outcome.code !== 0) await afterFailure();
    return outcome;
  });

/**
 * Carries out a confirmed plan under the locks. @throws Refused while another run holds a lock, for a host that turned
 * out to be foreign, and for what the command refuses under the locks; the reason why the run was stopped from outside.
 * The hooks `afterRun` follow, whatever happened.
 */
export async function carryOut(run: Run, work: Work, agreed: RunPlan): Promise<Outcome> {
  let code = 1;
  try {
    const outcome = await carriedOut(run, work, agreed);
    ({ code } = outcome);
    return outcome;
  } catch (error) {
    code = exitCodeOf(error);
    throw error;
  } finally {
    for (const line of await runHooksAfter(run.inventory, code)) run.context.err(`${line}\n`);
  }
}
