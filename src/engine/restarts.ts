import type { Inventory } from '../model/inventory.ts';
import { workersAtOnce } from './disruption.ts';
import type { PlannedChange } from './plan.ts';
import type { Restart } from './step.ts';

/**
 * About how long things are away while they restart, in ms. A static pod: the kubelet notices the new manifest within 20 s,
 * and waits for the old process to end; an API server then reads all of etcd before it is ready.
 */
export const ABOUT_MS = { apiServer: 70_000, staticPod: 40_000, kubelet: 10_000, service: 5000, pod: 20_000 } as const;

/** Restarts of one thing on several hosts. */
export type PlannedRestart = Required<Restart>;

/** What a plan restarts, in the order of its changes. Hosts that restart one after another are listed apart from workers, several of which restart at once. */
export function restartsOf(inventory: Inventory, planned: readonly PlannedChange[]): readonly PlannedRestart[] {
  const workers = new Set(inventory.hosts.filter(({ role }) => role === 'worker').map(({ name }) => name));
  const each = planned.flatMap(({ change }) =>
    (change.restarts ?? []).flatMap((restart) => restart.hosts.map((host) => ({ ...restart, host }))),
  );
  const groups = new Map<string, { readonly first: PlannedRestart; readonly hosts: Set<string> }>();
  for (const { what, aboutMs, host, ...given } of each) {
    const atOnce = given.atOnce ?? (workers.has(host) ? workersAtOnce(inventory) : 1);
    const key = JSON.stringify([what, aboutMs, atOnce]);
    const group = groups.get(key) ?? { first: { what, aboutMs, atOnce, hosts: [] }, hosts: new Set() };
    groups.set(key, group);
    group.hosts.add(host);
  }
  return [...groups.values()].map(({ first, hosts }) => ({ ...first, hosts: [...hosts] }));
}
