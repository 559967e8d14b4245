import { CommandError } from '../errors.ts';
import type { Hook, HookName, Hooks, Variables } from '../inventory/host-settings.ts';
import type { Host, Inventory } from '../inventory/inventory.ts';
import { sh } from '../shell/sh.ts';
import type { On } from '../ssh/remote.ts';

/** What a run says to its hooks. */
type Asking = Pick<Inventory, 'name' | 'hooks'>;

const variablesOf = ({ name, hooks }: Asking, hook: HookName, about: Variables): Variables => ({
  KBUILD_CLUSTER: name,
  KBUILD_HOOK: hook,
  KBUILD_ACTION: hooks.action,
  ...about,
});

/** Hooks that run, or have run, by host: a node that is cordoned with others is drained by a later step. */
const begun = new WeakMap<Hooks, Map<string, Promise<void>>>();

/** The hooks of a name that concern a host. */
export const hooksFor = ({ hooks }: Pick<Inventory, 'hooks'>, name: HookName, host: Host): readonly Hook[] =>
  hooks.of[name].filter(({ hosts }) => hosts.includes(host.name));

async function runOne(
  inventory: Asking,
  { name, host, on }: { readonly name: HookName; readonly host: Host; readonly on: On },
  { command, on: where, timeoutMs }: Hook,
): Promise<void> {
  const { name: node, address, role, os } = host;
  const about = { KBUILD_HOST: node, KBUILD_ADDRESS: address, KBUILD_ROLE: role, KBUILD_OS: os };
  const variables = variablesOf(inventory, name, about);
  const title = `hook ${name}`;
  if (where === 'host' && os === 'linux') {
    const given = Object.entries(variables).map(([key, value]) => `${key}=${value}`);
    await on(host).job('hook', { ...sh`env ${given} /bin/sh -c ${command}`, title, deadlineMs: timeoutMs });
    return;
  }
  try {
    await inventory.hooks.runHere(command, variables, timeoutMs);
  } catch (error) {
    throw new CommandError(
      node,
      title,
      { status: 'failed', stdout: '', stderr: (error as Error).message },
      'correct what made your command fail, or take it out of `hooks` in the inventory; then run the same ' +
        'command again',
    );
  }
}

async function runAll(inventory: Asking, about: Parameters<typeof runOne>[1], hooks: readonly Hook[]): Promise<void> {
  for (const hook of hooks) await runOne(inventory, about, hook);
}

/**
 * Runs the hooks of a name about a host, one after another; those before a drain once, until the node takes pods again.
 * @throws CommandError that names the host and the hook, with the last lines of the command
 */
export async function runHooks(
  inventory: Pick<Inventory, 'name' | 'hooks'>,
  name: HookName,
  host: Host,
  on: On,
): Promise<void> {
  const hooks = hooksFor(inventory, name, host);
  const known = begun.get(inventory.hooks) ?? new Map<string, Promise<void>>();
  begun.set(inventory.hooks, known);
  const drained = `beforeDrain ${host.name}`;
  if (name === 'afterUncordon') known.delete(drained);
  const about = { name, host, on };
  if (name !== 'beforeDrain') return runAll(inventory, about, hooks);
  const running = known.get(drained) ?? runAll(inventory, about, hooks);
  known.set(drained, running);
  return running;
}

/** Runs the hooks after a run, one after another, and returns a line about each that failed. */
export async function runHooksAfter(inventory: Asking, exitCode: number): Promise<readonly string[]> {
  const failed: string[] = [];
  for (const { command, timeoutMs } of inventory.hooks.of.afterRun) {
    try {
      await inventory.hooks.runHere(
        command,
        variablesOf(inventory, 'afterRun', { KBUILD_EXIT: String(exitCode) }),
        timeoutMs,
      );
    } catch (error) {
      failed.push(`hook afterRun failed: ${(error as Error).message}`);
    }
  }
  return failed;
}
