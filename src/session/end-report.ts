import { DeadlinePassed, exitCodeOf, Interrupted, KbuildError, refusalOf, SeveralErrors } from '../errors.ts';
import type { Inventory } from '../inventory/inventory.ts';
import { severalText, unreachableText } from '../report/failure.ts';
import { maskError } from '../report/mask.ts';
import type { Note } from '../report/record/line.ts';
import type { Connected } from './connect.ts';
import type { Context } from './context.ts';
import type { Flags } from './options.ts';
import { GO_ON, type RunOutput } from './output.ts';
import type { RunOptions } from './run.ts';
import { writeBundle } from './support-bundle.ts';

const NOT_REACHED = 3;
const REFUSED = 7;

/** What the report of a run's end needs. */
export interface Ending {
  readonly context: Context;
  readonly flags: Flags;
  readonly options: RunOptions;
  readonly inventory: Inventory;
  readonly output: RunOutput;
  readonly startedMs: number;
}

async function bundle(
  { context, flags, inventory, output, startedMs }: Ending,
  connected: Connected | undefined,
): Promise<void> {
  if (flags.bundle === undefined || connected === undefined) return;
  const { logPath, mask } = output;
  await writeBundle({ connected, context, inventory, logPath, mask, startedMs }, flags.bundle);
}

const closingLine = ({ context, output, startedMs }: Ending, code: number): string | undefined =>
  output.standing.closing(code, context.nowMs() - startedMs);

/** Writes the support bundle, notes of hosts and the closing line of a command that returned its exit code. */
export async function reportEnd(ending: Ending, connected: Connected, code: number): Promise<void> {
  const { context, flags, options, output } = ending;
  if (code !== 0 || options.alwaysBundles === true) await bundle(ending, connected);
  for (const note of output.undrawnNotes()) context.err(`${note}\n`);
  const closing = closingLine(ending, code);
  if (closing !== undefined && (flags.quiet !== true || code !== 0)) context.err(`${closing}\n`);
}

function errorNote(error: unknown): Note {
  const exitCode = exitCodeOf(error);
  if (error instanceof SeveralErrors)
    return { kind: 'error', message: severalText(error.errors), remedy: '', exitCode };
  const remedy = error instanceof KbuildError ? (error.remedy ?? '') : '';
  const message = error instanceof Error ? error.message : String(error);
  return { kind: 'error', message, remedy, exitCode, ...refusalOf(error) };
}

/**
 * Prints what belongs to the error of a command, and prepares the error for the code that prints it. `isMissingNamed`:
 * the run has named the unreachable hosts.
 */
export async function reportError(
  ending: Ending,
  connected: Connected | undefined,
  error: unknown,
  isMissingNamed: boolean,
): Promise<void> {
  const { context, options, output } = ending;
  const { standing } = output;
  output.note(errorNote(error));
  output.log({ kind: 'error', error: error instanceof Error ? (error.stack ?? error.message) : String(error) });
  if (error instanceof Interrupted && !standing.hasBegun()) {
    error.message = `${error.message}; nothing was changed`;
    return;
  }
  const code = exitCodeOf(error);
  // The error ends the command before its output names the unreachable hosts. One of them may be its cause.
  if (connected !== undefined && (options.reportsUnreachable === true ? code === REFUSED : !isMissingNamed)) {
    const named: readonly unknown[] = error instanceof SeveralErrors ? error.errors : [error];
    const { unreachable } = connected.observations.fleet();
    context.err(
      unreachableText(
        unreachable.filter(({ error: reason }) => exitCodeOf(reason) === NOT_REACHED && !named.includes(reason)),
      ),
    );
  }
  context.err(`full log: ${output.logPath}\n`);
  await bundle(ending, connected).catch((failure: unknown) =>
    context.err(`no bundle: ${(failure as Error).message}\n`),
  );
  if ((error instanceof Interrupted || error instanceof DeadlinePassed) && standing.isAtWork())
    context.err(`${standing.text()}\n`);
  if (error instanceof Interrupted) context.err(`→ ${GO_ON}\n`);
  if (!(error instanceof Error)) return;
  // The code that prints the error later cannot mask it.
  maskError(error, output.mask);
  if (error instanceof SeveralErrors) error.message = severalText(error.errors);
  const closing = closingLine(ending, exitCodeOf(error));
  if (error instanceof KbuildError) Object.assign(error, { closing });
  else if (closing !== undefined) context.err(`${closing}\n`);
}
