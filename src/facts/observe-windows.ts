import { ConnectError } from '../errors.ts';
import type { Inventory, WindowsHost } from '../inventory/inventory.ts';
import type { Command } from '../shell/command.ts';
import { decodePayload } from '../shell/powershell.ts';
import { powershell } from '../templates.ts';
import type { ObserveTools } from './observe-linux.ts';
import { factsFrom, type Answer, type Probe } from './probe.ts';
import { windowsProbes, type WindowsFacts } from './windows.ts';

/** How a Windows host is asked: one script on one channel, the JSON text of its result back. */
export type AskWindows = (command: Command<'powershell'>) => Promise<string>;

interface Observation {
  readonly administrator: boolean;
  readonly answers: Readonly<Record<string, { readonly ok?: string; readonly failed?: string }>>;
}

/** One script that runs the named probes, each by itself. */
export function observation(probes: Readonly<Record<string, Probe<unknown, 'powershell'>>>): Command<'powershell'> {
  const list = Object.entries(probes).map(([fact, { command }]) => {
    const { name, script, params } = decodePayload(command.script);
    return { fact, name, script, params };
  });
  return { ...powershell('windows/observe.ps1', { Probes: list }), title: 'observe' };
}

/**
 * Asks a Windows host by one script: for all facts, or only for the named ones (the others are then missing in the result).
 * A probe that fails makes reading its fact throw. @throws ConnectError when the host cannot be asked, or the login is no
 * administrator's.
 */
export async function observeWindows(
  ask: AskWindows,
  inventory: Inventory,
  host: WindowsHost,
  { nowMs }: Pick<ObserveTools, 'nowMs'>,
  names?: readonly string[],
): Promise<WindowsFacts> {
  const all: Readonly<Record<string, Probe<unknown, 'powershell'>>> = windowsProbes(inventory, host);
  const probes = names === undefined ? all : Object.fromEntries(names.map((name) => [name, all[name]!]));
  const from = nowMs();
  const said = JSON.parse(await ask(observation(probes))) as Observation;
  if (!said.administrator)
    throw new ConnectError(host.name, `${host.ssh.user} is no administrator there`, {
      retryable: false,
      remedy: `put ${host.ssh.user} into the group Administrators (its keys then belong into C:\\ProgramData\\ssh\\administrators_authorized_keys), or name another ssh.user`,
    });
  const answers = Object.fromEntries(
    Object.entries(said.answers).map(([fact, { ok, failed }]): [string, Answer] => [
      fact,
      ok === undefined ? { failed: failed ?? 'no answer' } : { stdout: ok },
    ]),
  );
  return factsFrom(host.name, probes, answers, { middleMs: (from + nowMs()) / 2 }) as WindowsFacts;
}
