import { login } from '../../host/machine.facts.ts';
import type { Host, Inventory, LinuxHost } from '../../inventory/inventory.ts';
import type { Command } from '../../shell/command.ts';
import type { Probe } from '../../shell/probe.ts';
import type { Watched } from '../../shell/watched.ts';
import type { ExecResult } from '../../ssh/transport.ts';
import { type Answer, factsFrom, framedScript, readFrames } from './framed-script.ts';
import { type LinuxFacts, linuxProbes } from './linux.ts';

/** A host to observe, and what its probes read by name. */
export interface Subject<H extends Host = LinuxHost> {
  readonly inventory: Inventory;
  readonly host: H;
  readonly watched: Watched;
}

/** Runs one script on one channel; returns both streams, whatever the status. */
export type Ask = (command: Command<'sh'>) => Promise<ExecResult>;

/** Time and randomness of an observation. */
export interface ObserveTools {
  readonly nowMs: () => number;
  /** A fresh unguessable word: output cannot fake a frame. */
  readonly nonce: () => string;
  /** How long the login took before. */
  readonly loginMs?: number | undefined;
  /** What else the same script asks, behind the facts: another one would cost round trips and a shell. */
  readonly beside?:
    | {
        readonly commands: Readonly<Record<string, Command<'sh'>>>;
        readonly told: (answers: Readonly<Record<string, Answer>>) => void;
      }
    | undefined;
}

/** Which facts are observed: only the named ones, or all without these. */
export type WantedFacts = readonly string[] | { readonly without: readonly string[] };

type Probes = Readonly<Record<string, Probe<unknown>>>;

const isNamed = (wanted: WantedFacts): wanted is readonly string[] => Array.isArray(wanted);

/**
 * Observes a Linux host by one script: all facts, or those that are wanted. Facts that were not named are missing in
 * the result; reading one that was left out throws, as if its probe had failed. Rejects if the script cannot run.
 */
export async function observeLinux(
  ask: Ask,
  { inventory, host, watched }: Subject,
  { nowMs, nonce, loginMs, beside }: ObserveTools,
  wanted: WantedFacts = { without: [] },
): Promise<LinuxFacts> {
  const all: Probes = linuxProbes(inventory, host, watched);
  const probes: Probes = isNamed(wanted) ? Object.fromEntries(wanted.map((name) => [name, all[name]!])) : all;
  const leftOut = isNamed(wanted) ? [] : wanted.without;
  const asked = Object.entries(probes).filter(([name]) => !leftOut.includes(name));
  const commands = Object.fromEntries(asked.map(([name, { command }]) => [name, command]));
  const word = nonce();
  const from = nowMs();
  const { stdout, stderr } = await ask(framedScript({ ...commands, ...beside?.commands }, word));
  const to = nowMs();
  const untold = Object.fromEntries(leftOut.map((name) => [name, { failed: 'it was not observed' }]));
  const answers = { ...readFrames(stdout, stderr, word), ...untold };
  beside?.told(answers);
  // The clock was read after the login shell had read its files, and before the time that the later probes took.
  const shellMs = Math.min(loginShellMs(answers), to - from);
  const laterMs = Math.min(afterClockMs(answers), to - from - shellMs);
  const middleMs = (from + shellMs + to - laterMs) / 2;
  return factsFrom(host.name, probes, answers, { middleMs, loginMs }) as LinuxFacts;
}

/** How long the login shell took before it ran the probes: a minute, where its files wait for something. */
function loginShellMs(answers: Readonly<Record<string, Answer>>): number {
  const answer = answers['login'];
  if (answer === undefined || !('stdout' in answer)) return 0;
  try {
    return login.parse(answer.stdout, { middleMs: 0, loginMs: undefined }).shellMs ?? 0;
  } catch {
    // Reading the fact tells what is wrong with it.
    return 0;
  }
}

/**
 * How long the probes went on after the one that reads the clock, by that clock: minutes on a slow host. 0 if they do
 * not tell. Without it the middle of the whole request would be off by half of that.
 */
function afterClockMs(answers: Readonly<Record<string, Answer>>): number {
  const read = (name: string): number => {
    const answer = answers[name];
    return answer !== undefined && 'stdout' in answer ? Number.parseFloat(answer.stdout) : Number.NaN;
  };
  const ms = read('nowMs') - read('clockOffsetMs') * 1000;
  return ms > 0 ? ms : 0;
}
