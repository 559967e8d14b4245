import * as z from 'zod';
import { ConnectError, NoAnswer } from '../../errors.ts';
import type { WindowsHost } from '../../inventory/inventory.ts';
import { eachLimit } from '../../limit.ts';
import type { Command } from '../../shell/command.ts';
import { decodePayload } from '../../shell/powershell.ts';
import type { Probe } from '../../shell/probe.ts';
import { excerpt } from '../../shell/text.ts';
import { powershell } from '../../templates.ts';
import { type Answer, factsFrom } from './framed-script.ts';
import type { ObserveTools, Subject } from './observe-linux.ts';
import { type WindowsFacts, windowsProbes } from './windows.ts';

/** Runs one script on one channel; returns the JSON text of its result. */
export type AskWindows = (command: Command<'powershell'>, withinMs?: number) => Promise<string>;

type Probes = Readonly<Record<string, Probe<unknown, 'powershell'>>>;

const OBSERVATION = z.object({
  administrator: z.boolean(),
  answers: z.record(z.string(), z.object({ ok: z.string().optional(), failed: z.string().optional() })),
});

type Observation = Readonly<z.output<typeof OBSERVATION>>;

/** One script that runs the named probes, each by itself. */
function observation(probes: Probes): Command<'powershell'> {
  const list = Object.entries(probes).map(([fact, { command }]) => {
    const { name, script, params } = decodePayload(command.script);
    return { fact, name, script, params };
  });
  return { ...powershell('windows/observe.ps1', { Probes: list }), title: 'observe' };
}

/** How long a probe by itself may take, in ms, after all of them together did not end. */
const ALONE_MS = 60_000;

/** How many of them run at once: those that hang keep their channels, and a connection has five. */
const AT_ONCE = 3;

/** @throws SyntaxError, ZodError for another answer */
const asked = async (ask: AskWindows, probes: Probes, withinMs?: number): Promise<Observation> =>
  OBSERVATION.parse(JSON.parse(await ask(observation(probes), withinMs)));

/** The results of the probes. If one of them hangs, each runs again by itself, so that the others have a result. */
async function answersOf(ask: AskWindows, probes: Probes): Promise<Observation> {
  const names = Object.keys(probes);
  try {
    return await asked(ask, probes);
  } catch (error) {
    if (!(error instanceof NoAnswer) || names.length === 1) throw error;
  }
  const alone = await eachLimit(names, AT_ONCE, (name) => asked(ask, { [name]: probes[name]! }, ALONE_MS));
  const lost = alone.find((one) => one.status === 'rejected' && !(one.reason instanceof NoAnswer));
  if (lost?.status === 'rejected') throw lost.reason;
  if (alone.every(({ status }) => status === 'rejected')) throw (alone[0] as PromiseRejectedResult).reason;
  return {
    administrator: alone.every((one) => one.status === 'rejected' || one.value.administrator),
    answers: Object.fromEntries(
      alone.map((one, i): [string, Observation['answers'][string]] => {
        const name = names[i]!;
        if (one.status === 'rejected') return [name, { failed: (one.reason as NoAnswer).message }];
        return [name, one.value.answers[name] ?? { failed: 'no answer' }];
      }),
    ),
  };
}

/**
 * Observes a Windows host by one script: all facts, or only the named ones (the others are then missing in the result).
 * If a probe fails, reading its fact throws. @throws ConnectError if the script cannot run, or the login is no
 * administrator's.
 */
export async function observeWindows(
  ask: AskWindows,
  { inventory, host, watched }: Subject<WindowsHost>,
  { nowMs }: Pick<ObserveTools, 'nowMs'>,
  names?: readonly string[],
): Promise<WindowsFacts> {
  const all: Probes = windowsProbes(inventory, host, watched);
  const probes = names === undefined ? all : Object.fromEntries(names.map((name) => [name, all[name]!]));
  const from = nowMs();
  const seen = await answersOf(ask, probes).catch((error: unknown) => {
    if (!(error instanceof SyntaxError || error instanceof z.ZodError)) throw error;
    throw new ConnectError(host.name, `its answer is no observation: ${excerpt(error.message)}`, {
      retryable: false,
      cause: error,
    });
  });
  if (!seen.administrator)
    throw new ConnectError(host.name, `${host.ssh.user} is no administrator there`, {
      retryable: false,
      remedy:
        `put ${host.ssh.user} into the group Administrators (its keys then belong into ` +
        'C:\\ProgramData\\ssh\\administrators_authorized_keys), or name another ssh.user',
    });
  const answers = Object.fromEntries(
    Object.entries(seen.answers).map(([fact, { ok, failed }]): [string, Answer] => [
      fact,
      ok === undefined ? { failed: failed ?? 'no answer' } : { stdout: ok },
    ]),
  );
  return factsFrom(host.name, probes, answers, { middleMs: (from + nowMs()) / 2 }) as WindowsFacts;
}
