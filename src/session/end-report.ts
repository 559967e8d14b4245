import { closeSync, openSync, readFileSync, renameSync, rmSync, writeSync } from 'node:fs';
import { gzipSync } from 'node:zlib';
import { TAR_BLOCK, tarHeader } from '../backup/archive.ts';
import { DeadlinePassed, exitCodeOf, Interrupted, KbuildError, refusalOf, SeveralErrors } from '../errors.ts';
import type { Inventory, UserManifest } from '../inventory/inventory.ts';
import { eachLimit } from '../limit.ts';
import { supportedNamespaces } from '../network/load-balancers.value.ts';
import { severalText, unreachableText } from '../report/failure.ts';
import { maskedInPieces, maskError } from '../report/mask.ts';
import type { Note } from '../report/record/line.ts';
import { summaryText } from '../report/run-summary.ts';
import { jsonText } from '../report/text.ts';
import { withRuntime } from '../runtime/runtimes.value.ts';
import type { Command } from '../shell/command.ts';
import { objectsOf, textIn, within } from '../shell/decode.ts';
import { Secret, sha256Of } from '../shell/secret.ts';
import { isWindowsRemote, type WindowsRemote } from '../ssh/windows.ts';
import { powershell, script, using } from '../templates.ts';
import { type Section, supportOfWindows } from '../windows/support.ts';
import type { Connected } from './connect.ts';
import type { Context } from './context.ts';
import type { Flags } from './options.ts';
import { GO_ON, type RunOutput } from './output.ts';
import type { Run, RunOptions } from './run.ts';

/** Without the hash of a Secret: a reader who knows the rest of the object could guess a short value from it. */
const listed = ({ source, objects }: UserManifest): object => ({
  source,
  objects: objects.map((object) => {
    const { apiVersion, kind } = object;
    const { name, namespace } = within(object, 'metadata');
    return {
      apiVersion,
      kind,
      namespace,
      name,
      ...(kind === 'Secret' ? {} : { sha256: sha256Of(JSON.stringify(object)) }),
    };
  }),
});

const listedIn = (of: { manifests: readonly UserManifest[] }) => ({ ...of, manifests: of.manifests.map(listed) });

const summary = (content: string): object => ({ bytes: Buffer.byteLength(content), sha256: sha256Of(content) });

/** An inventory for a support bundle, with only the names and hashes of manifests, distributed files and patches. */
export function bundleInventory(inventory: Inventory): object {
  const { files, manifests, network, kubeadm } = inventory;
  return {
    ...inventory,
    files: files.map(({ content, ...file }) => ({
      ...file,
      content: content instanceof Secret ? content : summary(content),
    })),
    manifests: manifests.map(listed),
    network: { ...listedIn(network), loadBalancers: network.loadBalancers && listedIn(network.loadBalancers) },
    kubeadm: {
      ...kubeadm,
      patches: Object.fromEntries(Object.entries(kubeadm.patches).map(([name, content]) => [name, summary(content)])),
    },
  };
}

/** One text file of an archive. */
interface Entry {
  /** At most 100 bytes, relative. */
  readonly name: string;
  readonly text: string;
}

/** A gzipped tar archive (POSIX ustar) of text files, all 0600. */
export function tarGz(entries: readonly Entry[], nowMs: number): Buffer {
  const blocks = entries.flatMap(({ name, text }) => {
    const content = Buffer.from(text);
    const padding = Buffer.alloc((TAR_BLOCK - (content.length % TAR_BLOCK)) % TAR_BLOCK);
    return [tarHeader(name, content.length, nowMs), content, padding];
  });
  return gzipSync(Buffer.concat([...blocks, Buffer.alloc(2 * TAR_BLOCK)]));
}

const AT_ONCE = 20;
const MAX_LOG = 50 * 1024 * 1024;

/** Logs and states of a Windows host: sections that begin with `== `, each with the error of what it could not read. */
export async function gathered(remote: WindowsRemote, sections: readonly Section[], title: string): Promise<string> {
  const answer = await remote.ask({ ...powershell('windows/gather.ps1', { Sections: sections }), title });
  return objectsOf(JSON.parse(answer))
    .map(({ title: head, text }) => `== ${textIn(head)}\n${textIn(text).replaceAll('\r', '').trimEnd()}\n`)
    .join('');
}

/** What the archive needs of a run. */
type BundleRun = Pick<Run, 'connected' | 'context' | 'inventory' | 'logPath' | 'mask' | 'startedMs'>;

/**
 * A command that may use the function of avc-denials.sh, for denials since the run began: hosts' clocks may differ from
 * ours.
 */
export const withDenials = (
  { context, startedMs }: Pick<BundleRun, 'context' | 'startedMs'>,
  command: Command<'sh'>,
): Command<'sh'> => {
  const age = Math.ceil((context.nowMs() - startedMs) / 1000);
  return using(script('session/avc-denials.sh', { AGE: String(age) }), command);
};

/**
 * Writes a support bundle: the resolved inventory (without secrets and without contents of files and manifests), the
 * run's log, and logs and states of every host. Masks secrets everywhere; the file is 0600. @throws the file system's
 * error
 */
export async function writeBundle(run: BundleRun, path: string): Promise<void> {
  const { connected, inventory, mask } = run;
  const remotes = connected.remotes;
  const gather = withDenials(run, script('session/support.sh', { NAMESPACES: supportedNamespaces }));
  const results = await eachLimit(remotes, AT_ONCE, async (remote): Promise<Entry> => {
    const name = `hosts/${remote.host.name}.txt`;
    const title = 'gather for the bundle';
    if (isWindowsRemote(remote)) return { name, text: await gathered(remote, supportOfWindows, title) };
    const { stdout, stderr } = await remote.ask({ ...withRuntime(inventory, remote.host, gather), title });
    return { name, text: stdout + stderr };
  });
  const unreachable = connected.observations
    .fleet()
    .unreachable.map(({ host, error }) => `${host.name}: ${error.message}`);
  const failed = results.flatMap((result, i) =>
    result.status === 'rejected' ? [`${remotes[i]!.host.name}: ${(result.reason as Error).message}`] : [],
  );
  const entries: readonly Entry[] = [
    { name: 'inventory.json', text: `${jsonText(bundleInventory(inventory), 2)}\n` },
    { name: 'run.log', text: readFileSync(run.logPath, 'utf8').slice(-MAX_LOG) },
    { name: 'not-asked.txt', text: [...unreachable, ...failed, ''].join('\n') },
    ...results.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : [])),
  ];
  const masked: Entry[] = [];
  for (const { name, text } of entries)
    masked.push({ name: `kbuild-bundle/${name}`, text: await maskedInPieces(text, mask) });
  const archive = tarGz(masked, run.context.nowMs());
  const temporary = `${path}.${String(process.pid)}`;
  rmSync(temporary, { force: true });
  const file = openSync(temporary, 'wx', 0o600);
  try {
    writeSync(file, archive);
  } finally {
    closeSync(file);
  }
  renameSync(temporary, path);
  run.context.err(`support bundle: ${path}\n`);
}

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

/** What became of the hosts, and what took long: as an event, and as lines where lines are shown. */
function summarize({ context, flags, options, output }: Ending): void {
  const summary = output.standing.summary();
  if (summary === undefined) return;
  output.emit(summary);
  const isJson = flags.json === true && options.json === 'events';
  if (flags.quiet !== true && !isJson) context.err(summaryText(summary, (context.env['CI'] ?? '') !== ''));
}

/** Writes the support bundle, notes of hosts and the closing line of a command that returned its exit code. */
export async function reportEnd(ending: Ending, connected: Connected, code: number): Promise<void> {
  const { context, flags, options, output } = ending;
  if (code !== 0 || options.alwaysBundles === true) await bundle(ending, connected);
  for (const note of output.undrawnNotes()) context.err(`${note}\n`);
  summarize(ending);
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
  summarize(ending);
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
