import type { Convergence } from '../../src/engine/convergence.ts';
import { observations } from '../../src/engine/observations.ts';
import type { Phase } from '../../src/engine/step.ts';
import type { Inventory, LinuxHost } from '../../src/inventory/inventory.ts';

/** A run of these phases; its hosts have nothing but names. */
export function bareRun(
  phases: readonly Phase[],
  hosts: readonly LinuxHost[],
  over: Partial<Convergence> = {},
): Convergence {
  const rollout = { maxUnavailable: { percent: 10 }, drainTimeoutMs: 1, pauseMs: 0 };
  const words = new Map(hosts.map(({ name }) => [name, new Set<string>()]));
  const see = (name: string) => ({ images: words.get(name), hostname: name, bootId: 'b' }) as never;
  const fleet = {
    hosts: hosts.map((one) => ({ os: 'linux' as const, host: one, facts: see(one.name) })),
    unreachable: [],
    cluster: { state: 'absent' as const },
  };
  return {
    inventory: { name: 't', hosts, rollout } as unknown as Inventory,
    phases,
    held: () => Promise.resolve(0),
    observations: observations(fleet, {
      facts: (one) => Promise.resolve(see(one.name)),
      cluster: () => Promise.resolve({ state: 'absent' }),
      clusterFacts: [],
      nowMs: () => 0,
    }),
    on: ((one: LinuxHost) => ({
      say: (word: string) => Promise.resolve(void words.get(one.name)!.add(word)),
    })) as never,
    planned: new Set(),
    approve: () => Promise.resolve(true),
    emit: () => undefined,
    concurrency: 10,
    signal: new AbortController().signal,
    nowMs: () => 0,
    sleep: () => Promise.resolve(),
    ...over,
  };
}
