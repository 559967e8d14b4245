import type { Fleet, Observed } from '../../src/cluster/fleet/fleet.ts';
import type { LinuxFacts } from '../../src/cluster/fleet/linux.ts';
import type { ClusterPart, ClusterView } from '../../src/cluster/fleet/view.ts';
import { converge, type Outcome } from '../../src/engine/converge.ts';
import type { Event } from '../../src/engine/event.ts';
import { observations } from '../../src/engine/observations.ts';
import { changeId, plan } from '../../src/engine/plan.ts';
import type { Phase, Step } from '../../src/engine/step.ts';
import type { Inventory, LinuxHost, Role } from '../../src/inventory/inventory.ts';

/** A world of hosts whose only fact that matters is a set of words, kept in the fact `images`. */
export interface World {
  readonly inventory: Inventory;
  readonly words: ReadonlyMap<string, Set<string>>;
  /** What was asked of hosts after the first look: `host: fact,fact`, and `cluster`. */
  readonly looks: string[];
  /** The parts of the cluster that each of its observations asked for. */
  readonly clusterParts: (readonly ClusterPart[])[];
  readonly events: Event[];
  readonly run: (
    phases: readonly Phase[],
    options?: {
      readonly signal?: AbortSignal;
      readonly planned?: 'all' | 'nothing';
      /** As `Lock.held`; default: never lost. */
      readonly held?: (host: string) => Promise<number>;
    },
  ) => Promise<Outcome>;
  readonly fleet: () => Fleet;
  /** The host is restarted, and forgets its words. */
  readonly restart: (host: string) => void;
  /** Time goes on by so many ms. */
  readonly pass: (ms: number) => void;
  readonly nowMs: () => number;
}

export const host = (name: string, role: Role = 'worker'): LinuxHost => ({ name, role, os: 'linux' }) as LinuxHost;

/** A step that wants a word on its host; `add` says how it gets there (default: at once). */
export const wants = (
  word: string,
  options: {
    readonly settleMs?: number;
    readonly disrupts?: boolean;
    readonly apply?: (host: LinuxHost) => Promise<void> | void;
  } = {},
): Step => ({
  name: `has-${word}`,
  ...(options.settleMs === undefined ? {} : { settleMs: options.settleMs }),
  diff: ({ host: mine, facts }) =>
    facts.images.has(word)
      ? []
      : [
          {
            ...(options.disrupts === undefined ? {} : { disrupts: options.disrupts }),
            summary: `say ${word} (found ${[...facts.images].join(' ') || 'silence'})`,
            apply: async (on) => {
              await options.apply?.(mine);
              await (on(mine) as unknown as { say: (word: string) => Promise<void> }).say(word);
            },
          },
        ],
});

/** Makes a world; time stands still but for sleeps. */
export function world(
  hosts: readonly LinuxHost[],
  rollout: Inventory['rollout'] = { maxUnavailable: { percent: 10 }, drainTimeoutMs: 300_000, pauseMs: 0 },
  cluster: ClusterView = { state: 'absent' },
): World {
  const inventory = { name: 'test', hosts, rollout } as unknown as Inventory;
  const words = new Map(hosts.map(({ name }) => [name, new Set<string>()]));
  const looks: string[] = [];
  const clusterParts: (readonly ClusterPart[])[] = [];
  const events: Event[] = [];
  const boots = new Map<string, number>();
  const see = (one: LinuxHost): LinuxFacts =>
    ({
      images: new Set(words.get(one.name)),
      hostname: one.name,
      bootId: `boot ${String(boots.get(one.name) ?? 1)}`,
    }) as unknown as LinuxFacts;
  const fleet = (): Fleet => ({
    hosts: hosts.map((one): Observed => ({ os: 'linux', host: one, facts: see(one) })),
    unreachable: [],
    cluster,
  });
  let nowMs = 0;
  return {
    inventory,
    words,
    looks,
    clusterParts,
    events,
    fleet,
    restart: (name) => {
      boots.set(name, (boots.get(name) ?? 1) + 1);
      words.get(name)!.clear();
    },
    pass: (ms) => {
      nowMs += ms;
    },
    nowMs: () => nowMs,
    run: (phases, { signal = new AbortController().signal, planned = 'all', held = () => Promise.resolve(0) } = {}) =>
      converge({
        inventory,
        held,
        phases,
        observations: observations(fleet(), {
          facts: (one, names) => {
            looks.push(`${one.name}: ${names.join(',')}`);
            const all = see(one as LinuxHost) as unknown as Record<string, unknown>;
            return Promise.resolve(Object.fromEntries(names.map((name) => [name, all[name]])));
          },
          cluster: (_, parts) => {
            looks.push('cluster');
            clusterParts.push(parts);
            return Promise.resolve({ ...cluster });
          },
          clusterFacts: ['hostname'],
          nowMs: () => nowMs,
        }),
        on: ((one: LinuxHost) => ({
          say: (word: string) => Promise.resolve(void words.get(one.name)!.add(word)),
        })) as never,
        planned: new Set(planned === 'all' ? plan(phases, inventory, fleet()).changes.map(changeId) : []),
        approve: () => Promise.resolve(false),
        emit: (event) => void events.push(event),
        concurrency: 10,
        signal,
        nowMs: () => nowMs,
        sleep: (ms) => {
          nowMs += ms;
          return Promise.resolve();
        },
      }),
  };
}

export const linuxPhase = (
  name: string,
  hosts: readonly LinuxHost[],
  steps: readonly Step[],
  more: object = {},
): Phase => ({
  name,
  title: name,
  kind: 'linux',
  hosts,
  steps,
  ...more,
});
