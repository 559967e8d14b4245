import { readFileSync } from 'node:fs';
import { type Answer, factsFrom } from '../../src/cluster/fleet/framed-script.ts';
import { type WindowsFacts, windowsProbes } from '../../src/cluster/fleet/windows.ts';
import type { Inventory, WindowsHost } from '../../src/inventory/inventory.ts';
import type { Command } from '../../src/shell/command.ts';
import { onceForEach } from '../../src/shell/memo.ts';
import { decodePayload, type Payload } from '../../src/shell/powershell.ts';
import { revealed, Secret } from '../../src/shell/secret.ts';
import type { Remote } from '../../src/ssh/remote.ts';
import { loadAnswers } from '../windows/host/answers.ts';
import { filesOf, freshMachine, type Machine } from '../windows/host/machine.ts';
import { type ScriptContext, ScriptFailure } from '../windows/host/script.ts';
import { watched } from './facts.ts';

const answers = await loadAnswers();

/** What probes have around them: nothing, but a world. */
const context = (world: Readonly<Record<string, unknown>>): ScriptContext =>
  ({ host: { world } }) as unknown as ScriptContext;

/** A fresh Windows Server 2022, or what `change` makes of it. */
export type MachineChange = (machine: Machine, world: Record<string, unknown>) => void;

/** The probes of a host, each with the script that it runs; decoded once, because tests observe a machine after each change. */
const probesOf = onceForEach((inventory: Inventory) =>
  onceForEach((host: WindowsHost) => {
    const probes = windowsProbes(inventory, host, watched(inventory)(host));
    const scripts = Object.entries(probes).map(([fact, { command }]) => {
      const { name, params } = decodePayload(command.script);
      return { fact, name, params };
    });
    return { probes, scripts };
  }),
);

/** The facts that the real probes have of a simulated machine. */
export function factsOfMachine(
  inventory: Inventory,
  host: WindowsHost,
  machine: Machine,
  world: Readonly<Record<string, unknown>> = {},
): WindowsFacts {
  const { probes, scripts } = probesOf(inventory)(host);
  const said = scripts.map(({ fact, name, params }): readonly [string, Answer] => {
    try {
      return [fact, { stdout: JSON.stringify(answers.get(name)!(machine, params, context(world))) }];
    } catch (error) {
      if (!(error instanceof ScriptFailure)) throw error;
      return [fact, { failed: error.message }];
    }
  });
  return factsFrom(host.name, probes, Object.fromEntries(said), { middleMs: Date.now() });
}

/** The facts of a fresh machine, or of what `change` makes of it. */
export function windowsFacts(
  inventory: Inventory,
  host: WindowsHost,
  change: MachineChange = () => undefined,
): WindowsFacts {
  const machine = freshMachine(host.name, '20348', host.internalAddress);
  const world: Record<string, unknown> = {};
  change(machine, world);
  return factsOfMachine(inventory, host, machine, world);
}

/** Carries commands out on the machine at once, without a connection; notes the scripts. */
export function remoteOf(
  host: WindowsHost,
  machine: Machine,
  world: Readonly<Record<string, unknown>> = {},
): { readonly remote: Remote<'powershell'>; readonly scripts: readonly Payload[] } {
  const scripts: Payload[] = [];
  const files = filesOf(machine);
  const service = (state: 'Running' | 'Stopped') => (name: string) => {
    const found = machine.services.get(name.toLowerCase());
    if (found !== undefined) Object.assign(found, { state, startedMs: state === 'Running' ? Date.now() + 1 : 0 });
    return Promise.resolve();
  };
  const run = async (command: Command<'powershell'>, workingFolder?: string): Promise<string> => {
    const payload = decodePayload(command.script);
    scripts.push(payload);
    const around = {
      account: 'SYSTEM',
      workingFolder,
      signal: new AbortController().signal,
      host: { world, answers, startService: service('Running'), stopService: service('Stopped') },
    } as unknown as ScriptContext;
    return JSON.stringify((await answers.get(payload.name)!(machine, payload.params, around)) ?? null);
  };
  const text = (content: string | Secret): string => (content instanceof Secret ? revealed(content) : content);
  const remote: Partial<Remote<'powershell'>> = {
    host,
    run: (command) => run(command),
    read: (path) => Promise.resolve(files.text(path) ?? ''),
    write: (path, content) => {
      files.put(path, text(content));
      return Promise.resolve();
    },
    upload: (from, to) => {
      files.put(to, readFileSync(from));
      return Promise.resolve();
    },
    job: (_, command, secrets = {}) => {
      const folder = 'C:\\ProgramData\\kbuild\\jobs\\one';
      for (const [name, secret] of Object.entries(secrets)) files.put(`${folder}\\${name}`, revealed(secret));
      return run(command, folder).finally(() => files.removeTree(folder));
    },
    restart: () => {
      for (const [name, state] of machine.features)
        if (state === 'InstallPending') machine.features.set(name, 'Installed');
      machine.pendingReboot = false;
      return Promise.resolve();
    },
    renew: () => undefined,
  };
  return { remote: remote as Remote<'powershell'>, scripts };
}
