import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { appendFile, stat } from 'node:fs/promises';
import { isAbsolute, join, relative, resolve, sep } from 'node:path';
import { checkNames } from '../commands/every.checks.ts';
import type { CheckedFinding } from '../engine/check.ts';
import { InventoryError, type KbuildError, type Problem } from '../errors.ts';
import { type Loaded, loadInventory } from '../inventory/file/load.ts';
import { type Markdown, markdownText } from '../report/markdown.ts';
import { annotations, codeQuality, type PlacedFinding, placedProblems, placeOf } from '../report/pipelines.ts';
import { counted } from '../report/text.ts';
import { systemText } from '../shell/text.ts';
import { type Context, stateFolder } from './context.ts';
import type { Flags } from './options.ts';
import { writeOutputFile } from './output.ts';
import type { Run } from './run.ts';

/** What of warnings makes them the same: a line that was added above them changes nothing. */
const signOf = (warnings: readonly Problem[]): string =>
  createHash('sha256')
    .update(warnings.map(({ path, message }) => `${path}\0${message}`).join('\0'))
    .digest('hex');

const inFull = (warnings: readonly Problem[]): string =>
  warnings.map(({ at, path, message }) => `warning: ${at}: ${path}: ${message}\n`).join('');

/**
 * Warnings about an inventory, in full for its first run, and for later ones in one line with their settings: what says
 * the same every time is not read any more. `file`: the inventory, as the operator names it.
 */
export function warningsText(
  { env }: Pick<Context, 'env'>,
  cluster: string,
  file: string,
  warnings: readonly Problem[],
): string {
  if (warnings.length === 0) return '';
  try {
    const folder = stateFolder({ env }, cluster);
    const path = join(folder, 'warnings-shown');
    const sign = signOf(warnings);
    let before = '';
    try {
      before = readFileSync(path, 'utf8');
    } catch {
      // None were shown.
    }
    if (before === sign) {
      const settings = [...new Set(warnings.map((warning) => warning.path))].join(', ');
      return (
        `warning: ${counted(warnings.length, 'warning')} as before (${settings}): \`kbuild validate ${file}\` ` +
        `shows ${warnings.length === 1 ? 'it' : 'them'}\n`
      );
    }
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    writeFileSync(path, sign, { mode: 0o600 });
  } catch {
    // Without a folder that can be written, they are shown in full each time.
  }
  return inFull(warnings);
}

/** Where the inventory is if neither the command line nor the environment names it. */
export const DEFAULT_INVENTORY = 'inventory.yaml';

/** The inventory's file: the operand or -i, else $KBUILD_INVENTORY, else ./inventory.yaml. */
export const inventoryFile = (context: Context, flags: Flags): string =>
  flags.inventory ?? context.env['KBUILD_INVENTORY'] ?? DEFAULT_INVENTORY;

/** The inventory's file, absolute; undefined for one that comes on standard input. */
export function inventoryPath(context: Context, flags: Flags): string | undefined {
  const file = inventoryFile(context, flags);
  return file === '-' ? undefined : resolve(context.cwd, file);
}

/** GitHub drops a summary of more than 1 MiB, in UTF-8: at most three bytes for each of these characters. */
const SUMMARY_BYTES = 1024 * 1024;

const REFUSED = 7;

/** Where pipelines have checked out the repository: paths of files are relative to it. */
const rootOf = ({ env, cwd }: Context): string => env['GITHUB_WORKSPACE'] ?? env['CI_PROJECT_DIR'] ?? cwd;

/** A file as a pipeline names it. */
export const fileInRepository =
  (context: Context) =>
  (file: string): string => {
    if (file === '-') return file;
    const path = relative(rootOf(context), resolve(context.cwd, file));
    return path.startsWith('..') || isAbsolute(path) ? resolve(context.cwd, file) : path.split(sep).join('/');
  };

/** Findings at the line of their host in the inventory; one of the whole fleet at its beginning. */
export function placedFindings(
  { context, flags, hostPlaces }: Pick<Run, 'context' | 'flags' | 'hostPlaces'>,
  findings: readonly CheckedFinding[],
): readonly PlacedFinding[] {
  const whole = inventoryFile(context, flags);
  return findings.map(({ severity, check, host, message, remedy }) => ({
    ...{ severity, check, host, message, remedy },
    place: placeOf(hostPlaces.get(host ?? '') ?? whole, fileInRepository(context)),
  }));
}

/** A refusal as a finding at the beginning of the inventory; none for another obstacle, which is a finding already. */
export function placedRefusal(
  { context, flags, mask }: Pick<Run, 'context' | 'flags' | 'mask'>,
  obstacle: KbuildError | undefined,
): readonly PlacedFinding[] {
  if (obstacle === undefined || obstacle.exitCode !== REFUSED) return [];
  const { message, remedy } = mask.value({ message: obstacle.message, remedy: obstacle.remedy });
  const place = placeOf(inventoryFile(context, flags), fileInRepository(context));
  return [{ severity: 'error', check: 'refused', message, remedy, place }];
}

/**
 * Appends to the summary of this step of GitHub Actions, as far as it has room. What goes wrong is said, and is no
 * error.
 */
async function appendSummary(context: Context, summary: Markdown): Promise<void> {
  const file = context.env['GITHUB_STEP_SUMMARY'];
  if (context.workflow === undefined || file === undefined || file === '') return;
  try {
    const { size } = await stat(file).catch(() => ({ size: 0 }));
    const room = Math.floor((SUMMARY_BYTES - size) / 3);
    if (room > 1000) await appendFile(file, `${markdownText(summary, room)}\n`);
  } catch (error) {
    context.err(`no summary of this step: ${systemText(error)}\n`);
  }
}

/**
 * Shows findings where a pipeline looks for them: a Code Quality report if `codeQuality` names a file, annotations and
 * a summary under GitHub Actions. @throws UsageError when the report cannot be written
 */
export async function reportToPipeline(
  context: Context,
  flags: { readonly codeQuality?: string | undefined },
  findingsOf: () => readonly PlacedFinding[],
  summaryOf: () => Markdown,
): Promise<void> {
  // Elsewhere neither is needed, and for thousands of hosts both take time.
  if (context.workflow === undefined && flags.codeQuality === undefined) return;
  const findings = findingsOf();
  if (flags.codeQuality !== undefined) {
    await writeOutputFile(context, flags.codeQuality, codeQuality(findings));
  }
  context.workflow?.(annotations(findings));
  await appendSummary(context, summaryOf());
}

/** Loads the inventory of a command that touches hosts; its warnings go to stderr. @throws InventoryError */
export async function readInventory(context: Context, flags: Flags): Promise<Loaded> {
  const { env, cwd } = context;
  const loaded = await loadInventory({ file: inventoryFile(context, flags), env, cwd, checks: checkNames }).catch(
    (error: unknown) => {
      if (error instanceof InventoryError)
        context.workflow?.(
          annotations(placedProblems({ problems: error.problems, warnings: [] }, fileInRepository(context))),
        );
      throw error;
    },
  );
  // `-q` shows only errors. `validate` shows all warnings.
  if (flags.quiet !== true)
    context.err(warningsText(context, loaded.inventory.name, inventoryFile(context, flags), loaded.warnings));
  return loaded;
}
