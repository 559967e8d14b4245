import { factsFrom, type Answer } from '../../src/facts/probe.ts';
import { windowsProbes, type WindowsFacts } from '../../src/facts/windows.ts';
import type { Inventory, WindowsHost } from '../../src/inventory/inventory.ts';
import { decodePayload } from '../../src/shell/powershell.ts';
import { loadAnswers } from '../windows/host/answers.ts';
import { freshMachine, type Machine } from '../windows/host/machine.ts';
import { ScriptFailure, type ScriptContext } from '../windows/host/script.ts';

const answers = await loadAnswers();

/** What probes have around them: nothing, but a world. */
const context = (world: Readonly<Record<string, unknown>>): ScriptContext =>
  ({ host: { world } }) as unknown as ScriptContext;

/** A fresh Windows Server 2022, or what `change` makes of it. */
export type MachineChange = (machine: Machine, world: Record<string, unknown>) => void;

/** The facts that the real probes have of a simulated machine. */
export function windowsFacts(
  inventory: Inventory,
  host: WindowsHost,
  change: MachineChange = () => undefined,
): WindowsFacts {
  const machine = freshMachine(host.name, '20348', host.internalAddress);
  const world: Record<string, unknown> = {};
  change(machine, world);
  const probes = windowsProbes(inventory, host);
  const said = Object.entries(probes).map(([fact, { command }]): readonly [string, Answer] => {
    const { name, params } = decodePayload(command.script);
    try {
      return [fact, { stdout: JSON.stringify(answers.get(name)!(machine, params, context(world))) }];
    } catch (error) {
      if (!(error instanceof ScriptFailure)) throw error;
      return [fact, { failed: error.message }];
    }
  });
  return factsFrom(host.name, probes, Object.fromEntries(said), { middleMs: Date.now() });
}
