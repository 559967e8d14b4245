import { InventoryError, type Problem } from '../errors.ts';
import { loadInventory } from '../inventory/file/load.ts';
import { localSources } from '../inventory/file/sources.ts';
import { jsonDocument } from '../report/json.ts';
import { validateMarkdown } from '../report/markdown.ts';
import { placedProblems } from '../report/pipelines.ts';
import type { Context } from '../session/context.ts';
import { fileInRepository, inventoryFile, reportToPipeline } from '../session/inventory.ts';
import { checkNames } from './every.checks.ts';
import type { ValidateOptions } from './inventory.command.ts';

interface Verdict {
  readonly problems: readonly Problem[];
  readonly warnings: readonly Problem[];
}

const shown = ({ at, path, message }: Problem): string => `${at}: ${path === '' ? '' : `${path}: `}${message}\n`;

async function verdict(context: Context, file: string): Promise<Verdict & { readonly summary: string }> {
  const { env, cwd } = context;
  try {
    const sources = localSources({ env, cwd, reach: 'local' });
    const { inventory, warnings } = await loadInventory({
      file,
      env,
      cwd,
      checks: checkNames,
      sources,
      checksKeys: true,
    });
    const { name, kubernetes, hosts } = inventory;
    const machines = `${hosts.length} ${hosts.length === 1 ? 'host' : 'hosts'}`;
    return { problems: [], warnings, summary: `cluster ${name}, Kubernetes ${kubernetes.version}, ${machines}` };
  } catch (error) {
    if (!(error instanceof InventoryError)) throw error;
    return { problems: error.problems, warnings: [], summary: '' };
  }
}

/**
 * `kbuild validate`: every problem of the inventory with its place, on stdout. Runs no command, fetches nothing and
 * contacts no host. 0 when the inventory is usable, else 2.
 */
export async function runValidate(context: Context, flags: ValidateOptions): Promise<number> {
  const file = inventoryFile(context, flags);
  const { problems, warnings, summary } = await verdict(context, file);
  const valid = problems.length === 0;
  const lines = [...problems.map(shown), ...warnings.map((warning) => `warning: ${shown(warning)}`)];
  if (flags.json === true) context.out(jsonDocument<'validate'>({ valid, problems, warnings }));
  else {
    for (const line of lines) context.out(line);
    if (flags.quiet !== true) {
      const count = `${problems.length} ${problems.length === 1 ? 'problem' : 'problems'}`;
      context.err(valid ? `${file} is valid: ${summary}\n` : `${file}: ${count}\n`);
    }
  }
  await reportToPipeline(
    context,
    flags,
    () => placedProblems({ problems, warnings }, fileInRepository(context)),
    () => validateMarkdown(valid, lines.join('')),
  );
  return valid ? 0 : 2;
}
