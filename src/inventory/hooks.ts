import type { Hook, HookName, Hooks, RunHere } from '../model/hooks.ts';
import type { Host } from '../model/inventory.ts';
import type { InventoryFile } from './schema.ts';
import { asList, selected } from './selector.ts';
import type { Sources } from './sources.ts';

const UNITS_MS = { s: 1000, m: 60_000, h: 3_600_000 } as const;

/** `90s`, `5m` in ms. */
const timeoutMs = (value: string): number =>
  Number(value.slice(0, -1)) * UNITS_MS[value.slice(-1) as keyof typeof UNITS_MS];

type Entry = InventoryFile['hooks'][Exclude<HookName, 'afterRun'>][number];

const aboutHosts =
  (hosts: readonly Host[]) =>
  ({ command, on, hosts: selectors, timeout }: Entry): Hook => ({
    command,
    on,
    hosts: hosts
      .filter((host) => on === 'operator' || host.os === 'linux')
      .filter((host) => asList(selectors).some((selector) => selected([host], selector).length > 0))
      .map(({ name }) => name),
    timeoutMs: timeoutMs(timeout),
  });

/** Runs hooks on this machine. Where no command may run (`validate`), no hook is called. */
export const hooksHere =
  ({ hook }: Sources): RunHere =>
  async (command, variables, timeout) => {
    if (hook === undefined) throw new Error('no command may be run');
    await hook(command, variables, timeout);
  };

/** The hooks of an inventory, with the hosts for which each of them runs. */
export function hooksOf({ hooks }: InventoryFile, hosts: readonly Host[], runHere: RunHere): Hooks {
  const of = aboutHosts(hosts);
  return {
    of: {
      beforeChange: hooks.beforeChange.map(of),
      beforeDrain: hooks.beforeDrain.map(of),
      afterUncordon: hooks.afterUncordon.map(of),
      afterRun: hooks.afterRun.map(({ command, timeout }) => ({
        command,
        on: 'operator',
        hosts: [],
        timeoutMs: timeoutMs(timeout),
      })),
    },
    runHere,
    action: '',
  };
}
