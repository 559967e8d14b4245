import type { Emit } from '../engine/event.ts';
import type { Host } from '../inventory/inventory.ts';

/** When the hosts that have not answered are named, in ms after the observation began. */
const TIMES_MS: readonly number[] = [2_000, 5_000, 10_000];
/** From the last of these times on. */
const EVERY_MS = 10_000;

/** Names the hosts that are waited for: silence of a minute looks like a program that hangs. */
interface AwaitedHosts {
  /** A host was observed. */
  readonly answered: (host: Host) => void;
  /** The observation of a host has ended, with or without an answer. */
  readonly ended: (host: Host) => void;
  readonly stop: () => void;
}

/** Emits `hosts-awaited` 2, 5 and 10 s after an observation of these hosts began, then every 10 s, until `stop`. */
export function awaitedHosts(hosts: readonly Host[], emit: Emit, nowMs: () => number): AwaitedHosts {
  const startedMs = nowMs();
  // They are observed in this order: those that stand first are the slowest.
  const waiting = new Set(hosts.map(({ name }) => name));
  let answers = 0;
  let timer: NodeJS.Timeout | undefined;
  const wait = (turn: number): void => {
    const atMs = TIMES_MS[turn] ?? TIMES_MS.at(-1)! + (turn - TIMES_MS.length + 1) * EVERY_MS;
    timer = setTimeout(
      () => {
        emit({
          kind: 'hosts-awaited',
          hosts: hosts.length,
          answered: answers,
          waiting: [...waiting],
          waitedMs: nowMs() - startedMs,
        });
        wait(turn + 1);
      },
      Math.max(0, startedMs + atMs - nowMs()),
    ).unref();
  };
  if (hosts.length > 0) wait(0);
  return {
    answered: () => void (answers += 1),
    ended: ({ name }) => void waiting.delete(name),
    stop: () => clearTimeout(timer),
  };
}
