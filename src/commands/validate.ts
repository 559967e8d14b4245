import { InventoryError, type Problem, UsageError } from '../errors.ts';
import { loadInventory } from '../inventory/file/load.ts';
import { localSources } from '../inventory/file/sources.ts';
import { linuxNodes } from '../inventory/hosts.ts';
import type { Inventory, LinuxHost } from '../inventory/inventory.ts';
import { initDocuments, joinConfiguration } from '../kubeadm/config.ts';
import { hostPatches, patchedKubeletConfig, sharedKubeletConfig } from '../kubeadm/kubelet-config.ts';
import { jsonDocument } from '../report/json.ts';
import { validateMarkdown } from '../report/markdown.ts';
import { placedProblems } from '../report/pipelines.ts';
import type { Context } from '../session/context.ts';
import { fileInRepository, inventoryFile, reportToPipeline } from '../session/inventory.ts';
import { isObject, type JsonObject } from '../shell/decode.ts';
import { Secret } from '../shell/secret.ts';
import { quote } from '../shell/sh.ts';
import { toYaml } from '../shell/yaml.ts';
import { checkNames } from './every.checks.ts';
import type { ValidateOptions } from './inventory.command.ts';

/** Stands for what only a join has. */
const OF_JOIN = 'made for each join';

/** A join without its secrets. */
function joinOf(inventory: Inventory, host: LinuxHost): JsonObject {
  const join = joinConfiguration(inventory, host, { token: Secret.of(''), caHash: OF_JOIN });
  const { discovery } = join;
  const token = isObject(discovery) && isObject(discovery['bootstrapToken']) ? discovery['bootstrapToken'] : {};
  return { ...join, discovery: { bootstrapToken: { ...token, token: OF_JOIN } } };
}

function kubeletOf(inventory: Inventory, host: LinuxHost): string {
  const config = patchedKubeletConfig(sharedKubeletConfig(inventory), hostPatches(inventory, host));
  return config === undefined
    ? '# kubeadm computes it: a patch of kubeadm.patches has a directive or an operation on a list\n'
    : toYaml([config]);
}

/**
 * What kubeadm and the kubelet of each Linux node get, after all levels, defaults and overrides, as YAML with a comment
 * before each part. kubeadm and the kubelet add their own defaults. Without secrets: those of joins do not exist yet.
 */
export function printedConfiguration(inventory: Inventory): string {
  const nodes = linuxNodes(inventory);
  const first = nodes.find(({ role }) => role === 'control-plane');
  return nodes
    .flatMap((host) => [
      host === first
        ? `# ${host.name}: kubeadm init\n${toYaml(initDocuments(inventory, host))}`
        : `# ${host.name}: kubeadm join\n${toYaml([joinOf(inventory, host)])}`,
      `# ${host.name}: its kubelet\n${kubeletOf(inventory, host)}`,
    ])
    .join('---\n');
}

interface Verdict {
  readonly problems: readonly Problem[];
  readonly warnings: readonly Problem[];
  /** undefined: it is not usable. */
  readonly inventory?: Inventory;
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
    return {
      problems: [],
      warnings,
      inventory,
      summary: `cluster ${name}, Kubernetes ${kubernetes.version}, ${machines}`,
    };
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
  if (flags.print === true && flags.json === true)
    throw new UsageError('--print prints YAML: it does not go with --json', { remedy: 'remove one of them' });
  const file = inventoryFile(context, flags);
  const { problems, warnings, inventory, summary } = await verdict(context, file);
  const valid = problems.length === 0;
  const lines = [...problems.map(shown), ...warnings.map((warning) => `warning: ${shown(warning)}`)];
  if (flags.json === true) context.out(jsonDocument<'validate'>({ valid, problems, warnings }));
  else {
    // With --print, stdout is YAML.
    const say = flags.print === true && inventory !== undefined ? context.err : context.out;
    for (const line of lines) say(line);
    if (flags.print === true && inventory !== undefined) context.out(printedConfiguration(inventory));
    if (flags.quiet !== true) {
      const count = `${problems.length} ${problems.length === 1 ? 'problem' : 'problems'}`;
      context.err(
        valid ? `✔ ${file} is valid: ${summary}\nnext: kbuild check ${quote(file)}\n` : `✖ ${file}: ${count}\n`,
      );
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
