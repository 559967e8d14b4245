import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { lowestApiServer } from '../cluster/api-versions.ts';
import type { Fleet } from '../cluster/fleet/fleet.ts';
import { exitCodeOf, Interrupted, UsageError } from '../errors.ts';
import { secretData } from '../inventory/file/manifests.ts';
import type { Inventory } from '../inventory/inventory.ts';
import { unreachableText } from '../report/failure.ts';
import { masker, type Masker } from '../report/mask.ts';
import { runName } from '../report/record/record-files.ts';
import { atVersion } from '../upgrade/at-version.value.ts';
import { hasOldKubelet } from '../upgrade/versions.ts';
import { compareVersions, versionIn } from '../versions.ts';
import { connect, type Connected } from './connect.ts';
import { type Context, type RunLog, stamp, stateFolder } from './context.ts';
import { type Ending, reportEnd, reportError } from './end-report.ts';
import { inventoryPath, readInventory } from './inventory.ts';
import type { SeenFirst } from './observe.ts';
import type { Flags } from './options.ts';
import { runOutput, runStop, type RunStop } from './output.ts';
import { noteFound, runRecording, type RunRecording } from './run-record.ts';
import { type BeginWait, type Run, type RunOptions, waitsOf } from './run.ts';
import { checkDeadNames, checkSelection, refuseLivingDead, withoutGroups } from './selection.ts';
import { spanHeaders } from './spans.ts';

/**
 * The inventory as if it named the version that the live cluster runs, where that is older: only `upgrade` changes it,
 * and everything else is done for the version that is there. Says so, and which kubelets an upgrade has not reached
 * yet.
 */
export function asItRuns({ err }: Pick<Context, 'err'>, inventory: Inventory, { cluster }: Fleet): Inventory {
  const desired = inventory.kubernetes.version;
  if (cluster.state !== 'up') return inventory;
  const running = lowestApiServer(cluster);
  if (compareVersions(desired, running) <= 0) {
    const old = cluster.nodes.filter(
      (node) =>
        inventory.hosts.some(({ name }) => name === node.name) &&
        versionIn(node.kubeletVersion) !== undefined &&
        hasOldKubelet(node, running),
    );
    if (old.length > 0)
      err(
        `the kubelets of ${old.map(({ name }) => name).join(', ')} are older than Kubernetes ${running}: ` +
          '`kbuild upgrade` brings them there\n',
      );
    return inventory;
  }
  err(`the cluster runs Kubernetes ${running}, the inventory names ${desired}: \`kbuild upgrade\` brings it there\n`);
  return atVersion(inventory, running);
}

/** Files that a run opens besides one connection a host: its log, keys, known_hosts, and those of Node. */
const OWN_FILES = 60;

/** How many files this process may have open; Infinity without /proc. Node has raised its soft limit already. */
function openFileLimit(): number {
  try {
    return Number(/^Max open files\s+(\d+)/m.exec(readFileSync('/proc/self/limits', 'utf8'))?.[1] ?? Infinity);
  } catch {
    return Infinity;
  }
}

/** A run keeps a connection to each host open. @throws UsageError when this process may not open that many files */
function checkOpenFiles(hosts: number, limit = openFileLimit()): void {
  if (hosts + OWN_FILES <= limit) return;
  throw new UsageError(
    `this process may have ${String(limit)} files open, and ${String(hosts)} hosts need ` +
      `${String(hosts + OWN_FILES)}; no host was contacted`,
    { remedy: `ulimit -n ${String(hosts + OWN_FILES)} (ulimit -Hn shows how far it may be raised)` },
  );
}

/**
 * A context that masks secrets in its output. Ctrl-C at a question ends the whole run, also in the middle of it. The
 * time that the operator takes to answer is a wait of the run.
 */
function contextOfRun(unmasked: Context, mask: Masker, { signal, abort }: RunStop, beginWait: BeginWait): Context {
  const asking =
    (ask: Context['ask']): Context['ask'] =>
    (question) => {
      const answered = beginWait({ what: 'answer', summary: question.trim() });
      return ask(question, signal)
        .catch((error: unknown) => {
          if (error instanceof Interrupted) abort(error);
          throw error;
        })
        .finally(answered);
    };
  return {
    ...unmasked,
    ask: asking(unmasked.ask),
    askHidden: asking(unmasked.askHidden),
    out: (text) => unmasked.out(mask.text(text)),
    err: (text) => unmasked.err(mask.text(text)),
    workflow: unmasked.workflow === undefined ? undefined : (text) => unmasked.workflow?.(mask.text(text)),
  };
}

/** A context that calls `before` ahead of each text and question of a command. */
function onceSpoken(context: Context, before: () => void): Context {
  const after =
    <A extends readonly unknown[], R>(act: (...given: A) => R) =>
    (...given: A): R => {
      before();
      return act(...given);
    };
  const { ask, askHidden, out, err } = context;
  return { ...context, ask: after(ask), askHidden: after(askHidden), out: after(out), err: after(err) };
}

/** The inventory whose hooks learn which command runs. */
const asking = (inventory: Inventory, { command }: RunOptions): Inventory => ({
  ...inventory,
  hooks: { ...inventory.hooks, action: command },
});

/** `20261121t165045z-0a1b2c3d`. systemd units have it in their names. */
const newRunId = (ms: number): string => `${stamp(ms).slice(0, 15).toLowerCase()}z-${randomBytes(4).toString('hex')}`;

/** A run that has its log and its record, and no connection yet. */
interface OpenRun {
  readonly runLog: RunLog;
  readonly ending: Ending;
  readonly hostPlaces: Run['hostPlaces'];
  readonly beginWait: BeginWait;
  readonly mask: Masker;
  readonly recording: RunRecording;
}

/** @throws UsageError when the log cannot be written */
function openRun(
  outer: Context,
  flags: Flags,
  options: RunOptions,
  { inventory, hostPlaces }: Pick<Run, 'inventory' | 'hostPlaces'>,
  stop: RunStop,
): OpenRun {
  const { command } = options;
  const mask = masker([inventory, secretData(inventory), spanHeaders(outer.env)]);
  const beginWait = waitsOf((note) => output.note(note), outer.nowMs);
  const context = contextOfRun(outer, mask, stop, beginWait);
  const startedMs = context.nowMs();
  const runId = newRunId(startedMs);
  const logPath = flags.logFile ?? join(stateFolder(context, inventory.name), `${runName(runId, command)}.log`);
  const path = inventoryPath(context, flags);
  const recording = runRecording({ context, inventory, inventoryPath: path, runId, command, startedMs });
  const output = runOutput(context, flags, options, { mask, logPath, record: recording.recorder });
  recording.begin(output);
  const { emit, onBegin } = output;
  const isEndless = options.isEndless === true;
  stop.listen(context, isEndless ? { ...output, showInterrupted: () => undefined } : output);
  const log = isEndless ? () => undefined : output.log;
  const runLog = { runId, emit, log, onBegin, onSecret: mask.register, signal: stop.signal };
  const ending = { context, flags, options, inventory, output, startedMs };
  return { runLog, ending, hostPlaces, beginWait, mask, recording };
}

/** What a command works with. */
function runOf(
  { runLog, ending, hostPlaces, beginWait, mask }: OpenRun,
  connected: Connected,
  { abort }: RunStop,
): Run {
  const { context, flags, inventory, options, output } = ending;
  const { command, changesVersion } = options;
  const { display, note, logPath } = output;
  const asItIs = changesVersion === true ? inventory : asItRuns(context, inventory, connected.observations.fleet());
  const shown = { display, note, logPath, beginWait, mask };
  return {
    ...runLog,
    ...shown,
    context,
    flags,
    command,
    inventory: asItIs,
    hostPlaces,
    startedMs: ending.startedMs,
    connected,
    abort,
  };
}

/**
 * Loads the inventory, connects, observes, and calls `work`. Reports how the run ended, and closes all that it opened.
 * `run.flags.hosts` names hosts where `given.hosts` names groups: `work` reads only the former.
 */
export async function withRun(
  outer: Context,
  given: Flags,
  options: RunOptions,
  work: (run: Run) => Promise<number>,
): Promise<number> {
  const stop = runStop((options.hasOwnTimeout === true ? undefined : given.timeout) ?? Infinity);
  const { inventory: loaded, hostPlaces } = await readInventory(outer, given);
  const inventory = asking(loaded, options);
  checkSelection(inventory, given);
  const flags = withoutGroups(inventory, given);
  checkDeadNames(inventory, flags, options);
  options.checkInventory?.(inventory);
  checkOpenFiles(inventory.hosts.length);
  const open = openRun(outer, flags, options, { inventory, hostPlaces }, stop);
  const { context, output } = open.ending;
  let connected: Connected | undefined;
  let exitCode = 1;
  let isMissingNamed = false;
  try {
    stop.signal.throwIfAborted();
    const reach = options.isThroughOne === true ? 'one control plane' : 'all hosts';
    const show = (seen: SeenFirst): void => {
      if (!stop.signal.aborted) options.onCluster?.(context.out, inventory, seen);
    };
    const onCluster = options.onCluster === undefined ? undefined : show;
    connected = await connect(context, inventory, flags, open.runLog, reach, onCluster);
    const fleet = connected.observations.fleet();
    noteFound(output, inventory, fleet);
    await refuseLivingDead({ flags, connected, context, signal: stop.signal });
    const run = runOf(open, connected, stop);
    const nameMissing = (): void => {
      if (options.reportsUnreachable !== true && !isMissingNamed) context.err(unreachableText(fleet.unreachable));
      isMissingNamed = true;
    };
    exitCode = await work({ ...run, context: onceSpoken(run.context, nameMissing) });
    nameMissing();
    await reportEnd(open.ending, connected, exitCode);
    return exitCode;
  } catch (error) {
    exitCode = exitCodeOf(error);
    await reportError(open.ending, connected, error, isMissingNamed);
    throw error;
  } finally {
    stop.release();
    await output.close();
    await connected?.close();
    await open.recording.end(output, exitCode, connected);
    await output.closeLog();
  }
}
