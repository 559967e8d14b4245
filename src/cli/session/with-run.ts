import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { Interrupted } from '../../errors.ts';
import { secretData } from '../../inventory/secret-data.ts';
import type { Inventory } from '../../model/inventory.ts';
import { unreachableText } from '../../report/failure.ts';
import { masker, type Masker } from '../../report/mask.ts';
import type { Context } from '../context.ts';
import type { Flags } from '../options.ts';
import { asItRuns } from './as-it-runs.ts';
import { checkSelection, withoutGroups } from './check-selection.ts';
import { connect, type Connected } from './connect.ts';
import { checkDeadNames, refuseLivingDead } from './dead-hosts.ts';
import { checkOpenFiles } from './open-files.ts';
import { readInventory } from './read-inventory.ts';
import { reportEnd, reportError, type Ending } from './report-end.ts';
import type { RunLog } from './run-log.ts';
import { runOutput } from './run-output.ts';
import { runStop, type RunStop } from './run-stop.ts';
import type { Run, RunOptions } from './run.ts';
import { stamp, stateFolder } from './state-folder.ts';

/** A context that masks secrets in its output. Ctrl-C at a question ends the whole run, also in the middle of it. */
function contextOfRun(unmasked: Context, mask: Masker, { signal, abort }: RunStop): Context {
  const asking =
    (ask: Context['ask']): Context['ask'] =>
    (question) =>
      ask(question, signal).catch((error: unknown) => {
        if (error instanceof Interrupted) abort(error);
        throw error;
      });
  return {
    ...unmasked,
    ask: asking(unmasked.ask),
    askHidden: asking(unmasked.askHidden),
    out: (text) => unmasked.out(mask.text(text)),
    err: (text) => unmasked.err(mask.text(text)),
    workflow: unmasked.workflow === undefined ? undefined : (text) => unmasked.workflow?.(mask.text(text)),
  };
}

/** The inventory whose hooks learn which command runs. */
const asking = (inventory: Inventory, { command }: RunOptions): Inventory => ({
  ...inventory,
  hooks: { ...inventory.hooks, action: command },
});

/** `20261121t165045z-0a1b2c3d`. systemd units have it in their names. */
const newRunId = (ms: number): string => `${stamp(ms).slice(0, 15).toLowerCase()}z-${randomBytes(4).toString('hex')}`;

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
  checkOpenFiles(inventory.hosts.length);
  const mask = masker([inventory, secretData(inventory)]);
  const context = contextOfRun(outer, mask, stop);
  const runId = newRunId(context.nowMs());
  const { command } = options;
  const logPath =
    flags.logFile ?? join(stateFolder(context, inventory.name), `${runId}-${command.replaceAll(' ', '-')}.log`);
  const output = runOutput(context, flags, options, mask, logPath);
  const ending: Ending = { context, flags, options, inventory, output, startedMs: context.nowMs() };
  const isEndless = options.isEndless === true;
  stop.listen(context, isEndless ? { ...output, showInterrupted: () => undefined } : output);
  let connected: Connected | undefined;
  try {
    const { signal, abort } = stop;
    signal.throwIfAborted();
    const { emit, onBegin, draw, stopDrawing } = output;
    const log = isEndless ? () => undefined : output.log;
    const runLog: RunLog = { runId, emit, log, onBegin, onSecret: mask.register, signal };
    connected = await connect(context, inventory, flags, runLog);
    if (options.reportsUnreachable !== true) context.err(unreachableText(connected.observations.fleet().unreachable));
    refuseLivingDead({ flags, connected });
    const code = await work({
      ...runLog,
      context,
      flags,
      command,
      inventory:
        options.changesVersion === true ? inventory : asItRuns(context, inventory, connected.observations.fleet()),
      hostPlaces,
      connected,
      abort,
      draw,
      stopDrawing,
      logPath,
      mask,
    });
    await reportEnd(ending, connected, code);
    return code;
  } catch (error) {
    await reportError(ending, connected, error);
    throw error;
  } finally {
    stop.release();
    await output.close();
    await connected?.close();
    await output.closeLog();
  }
}
