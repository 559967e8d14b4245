/** Runs of the engine that are made at random: roles, overlapping phases, failures, lost connections, interruptions. */
import fc from 'fast-check';
import type { Fleet, Observed } from '../../src/cluster/fleet/fleet.ts';
import type { LinuxFacts } from '../../src/cluster/fleet/linux.ts';
import { converge } from '../../src/engine/converge.ts';
import type { Event } from '../../src/engine/event.ts';
import { observations } from '../../src/engine/observations.ts';
import { changeId, plan } from '../../src/engine/plan.ts';
import type { Phase, Step } from '../../src/engine/step.ts';
import { CommandError, Interrupted } from '../../src/errors.ts';
import type { Inventory, LinuxHost, Role } from '../../src/inventory/inventory.ts';

/** Numbers of a phase and of a host; negative: nowhere. */
type At = readonly [phase: number, host: number];

/** What a run is made of. */
export interface GivenRun {
  readonly roles: readonly Role[];
  readonly phases: readonly {
    readonly on: readonly boolean[];
    readonly overlaps: boolean;
    readonly verifies: boolean;
    readonly oneByOne: boolean;
    readonly disrupts: boolean;
    readonly steps: number;
  }[];
  readonly fails: readonly At[];
  /** Where the run is interrupted during a change. */
  readonly cutAt: At;
  /** Where the connection is lost, once. */
  readonly lostAt: At;
  /** Whose changes are not in the confirmed plan, and what the operator says to them. */
  readonly unplannedAt: At;
  readonly agrees: boolean;
  /** The host whose lock is lost for ever after this phase's first change. */
  readonly unlockedAt: At;
  readonly concurrency: number;
  readonly pauseMs: number;
}

const somewhere = (never: number): fc.Arbitrary<At> => fc.tuple(fc.integer({ min: -never, max: 4 }), fc.nat(6));

/** Any run of up to 7 hosts and 5 phases. */
export const anyRun: fc.Arbitrary<GivenRun> = fc.record({
  roles: fc.array(fc.constantFrom<Role>('control-plane', 'worker', 'worker', 'worker'), { minLength: 1, maxLength: 7 }),
  phases: fc.array(
    fc.record({
      on: fc.array(fc.boolean(), { minLength: 7, maxLength: 7 }),
      overlaps: fc.boolean(),
      verifies: fc.boolean(),
      oneByOne: fc.boolean(),
      disrupts: fc.boolean(),
      steps: fc.integer({ min: 1, max: 3 }),
    }),
    { minLength: 1, maxLength: 5 },
  ),
  fails: fc.array(fc.tuple(fc.nat(4), fc.nat(6)), { maxLength: 2 }),
  cutAt: somewhere(12),
  lostAt: somewhere(2),
  unplannedAt: somewhere(4),
  agrees: fc.boolean(),
  unlockedAt: somewhere(12),
  concurrency: fc.integer({ min: 1, max: 4 }),
  pauseMs: fc.constantFrom(0, 0, 0, 5000),
});

/** How such a run went. */
export interface RandomRun {
  readonly phases: readonly Phase[];
  readonly changes: number;
  /** Names of hosts. */
  readonly failed: readonly string[];
  /** Whether it was ended for all hosts: from outside, or by a host that is no worker. */
  readonly endsAll: boolean;
  /** What each host got. */
  readonly words: ReadonlyMap<string, ReadonlySet<string>>;
  readonly events: readonly Event[];
  /** How many events there were when it was interrupted; undefined when it was not. */
  readonly interruptedAt: number | undefined;
  /** So many changes were made at once, at most. */
  readonly most: number;
}

/** What steps of a run do to the world. */
interface Doings {
  readonly words: ReadonlyMap<string, Set<string>>;
  atOnce: number;
  most: number;
  nowMs: number;
  wasLost: boolean;
  unlocked: string | undefined;
  readonly interrupt: () => void;
}

/** A step that gives its host a word. */
function wordStep(given: GivenRun, doings: Doings, p: number, s: number): Step {
  const word = `${String(p)}.${String(s)}`;
  const apply = async (host: LinuxHost): Promise<void> => {
    doings.atOnce += 1;
    doings.most = Math.max(doings.most, doings.atOnce);
    await new Promise((resolve) => setImmediate(resolve));
    doings.atOnce -= 1;
    doings.nowMs += 10;
    const isHere = ([phase, at]: At): boolean => phase === p && `h${String(at)}` === host.name;
    if (isHere(given.cutAt)) doings.interrupt();
    if (isHere(given.lostAt) && !doings.wasLost) {
      doings.wasLost = true;
      throw new CommandError(host.name, 'x', { status: 'lost', stdout: '', stderr: '' });
    }
    if (isHere(given.unlockedAt)) doings.unlocked = host.name;
    if (given.fails.some(isHere)) throw new Error(`${host.name} broke`);
    doings.words.get(host.name)!.add(word);
  };
  return {
    name: word,
    settleMs: 1000,
    diff: ({ host, facts }) =>
      facts.images.has(word)
        ? []
        : [
            {
              summary: `say ${word}`,
              ...(given.phases[p]!.disrupts ? { disrupts: true } : {}),
              apply: () => apply(host),
            },
          ],
  };
}

const phasesOf = (given: GivenRun, doings: Doings, hosts: readonly LinuxHost[]): readonly Phase[] =>
  given.phases
    .map(({ on, overlaps, verifies, oneByOne, steps }, p): Phase => ({
      name: `p${String(p)}`,
      title: `P${String(p)}`,
      kind: 'linux',
      hosts: hosts.filter((_, at) => on[at]),
      ...(overlaps ? { overlaps } : {}),
      ...(verifies ? { verifies } : {}),
      ...(oneByOne ? { concurrency: 1 } : {}),
      steps: Array.from({ length: steps }, (_, s) => wordStep(given, doings, p, s)),
    }))
    .filter(({ hosts: on }) => on.length > 0);

/** Makes and runs it. */
export async function randomRun(given: GivenRun): Promise<RandomRun> {
  const hosts = given.roles.map((role, at) => ({ name: `h${String(at)}`, role, os: 'linux' }) as LinuxHost);
  const rollout = { maxUnavailable: { workers: 2 }, drainTimeoutMs: 1, pauseMs: given.pauseMs };
  const inventory = { name: 't', hosts, rollout } as unknown as Inventory;
  const words = new Map(hosts.map(({ name }) => [name, new Set<string>()]));
  const controller = new AbortController();
  const events: Event[] = [];
  let interruptedAt: number | undefined;
  const interrupt = (): void => {
    interruptedAt ??= events.length;
    controller.abort(new Interrupted('interrupted'));
  };
  const doings: Doings = { words, interrupt, atOnce: 0, most: 0, nowMs: 0, wasLost: false, unlocked: undefined };
  const see = ({ name }: { readonly name: string }): LinuxFacts =>
    ({ images: new Set(words.get(name)), hostname: name, bootId: 'b' }) as unknown as LinuxFacts;
  const fleet = (): Fleet => ({
    hosts: hosts.map((host): Observed => ({ os: 'linux', host, facts: see(host) })),
    unreachable: [],
    cluster: { state: 'absent' },
  });
  const phases = phasesOf(given, doings, hosts);
  const { changes, failures, stopped } = await converge({
    inventory,
    phases,
    held: (name) =>
      name === doings.unlocked
        ? Promise.reject(new Error('another run holds its lock'))
        : Promise.resolve(doings.wasLost ? 1 : 0),
    observations: observations(fleet(), {
      facts: (one, names) => {
        const all = see(one) as unknown as Record<string, unknown>;
        return Promise.resolve(Object.fromEntries(names.map((name) => [name, all[name]])));
      },
      cluster: () => Promise.resolve({ state: 'absent' }),
      clusterFacts: ['hostname'],
      nowMs: () => doings.nowMs,
    }),
    on: (() => ({})) as never,
    planned: new Set(
      plan(phases, inventory, fleet())
        .changes.filter(
          ({ phase, host }) =>
            phase !== `p${String(given.unplannedAt[0])}` || host !== `h${String(given.unplannedAt[1])}`,
        )
        .map(changeId),
    ),
    asks: true,
    approve: () => Promise.resolve(given.agrees),
    emit: (event) => void events.push(event),
    concurrency: given.concurrency,
    signal: controller.signal,
    nowMs: () => doings.nowMs,
    sleep: (ms) => {
      doings.nowMs += ms;
      return Promise.resolve();
    },
  });
  const roleOf = (name: string): Role | undefined => hosts.find((host) => host.name === name)?.role;
  const failed = [...failures.keys()];
  const endsAll = stopped !== undefined || failed.some((name) => roleOf(name) !== 'worker');
  return { phases, changes, failed, endsAll, words, events, interruptedAt, most: doings.most };
}
