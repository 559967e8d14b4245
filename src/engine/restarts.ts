import type { Inventory } from '../inventory/inventory.ts';
import { workersAtOnce } from './batches.ts';
import type { PlannedChange } from './plan.ts';
import type { Restart } from './step.ts';

/**
 * About how long things are away while they restart, in ms. A static pod: the kubelet notices the new manifest within
 * 20 s, and waits for the old process to end; an API server then reads all of etcd before it is ready.
 */
export const ABOUT_MS = { apiServer: 70_000, staticPod: 40_000, kubelet: 10_000, service: 5000, pod: 20_000 } as const;

/** Restarts of one thing on several hosts. */
export interface PlannedRestart extends Required<Restart> {
  /** The pause between two batches of workers, in ms; missing where there is none. */
  readonly pauseMs?: number;
}

/** A restart of one host, and whether it is one of several batches of workers when more hosts restart than that. */
interface HostRestart extends Omit<PlannedRestart, 'hosts' | 'pauseMs'> {
  readonly host: string;
  readonly pausesBeyond: number;
}

/** The restarts of a change, host by host. Only a change on a worker itself waits for its batch. */
function byHost(inventory: Inventory, workers: ReadonlySet<string>, planned: PlannedChange): readonly HostRestart[] {
  const hasBatches = inventory.rollout.pauseMs > 0 && workers.has(planned.host);
  return (planned.change.restarts ?? []).flatMap(({ what, aboutMs, hosts, ...given }) =>
    hosts.map((host) => {
      const atOnce = given.atOnce ?? (workers.has(host) ? workersAtOnce(inventory) : 1);
      // Where the change itself decides how many, the first host is a batch of its own.
      const pausesBeyond = given.atOnce === undefined ? atOnce : 1;
      return { what, aboutMs, host, atOnce, pausesBeyond: hasBatches ? pausesBeyond : Infinity };
    }),
  );
}

/**
 * What a plan restarts, in the order of its changes. Hosts that restart one after another are listed apart from
 * workers, several of which restart at once.
 */
export function restartsOf(inventory: Inventory, planned: readonly PlannedChange[]): readonly PlannedRestart[] {
  const workers = new Set(inventory.hosts.filter(({ role }) => role === 'worker').map(({ name }) => name));
  const groups = new Map<string, { readonly first: HostRestart; readonly hosts: Set<string> }>();
  for (const one of planned.flatMap((change) => byHost(inventory, workers, change))) {
    const key = JSON.stringify([one.what, one.aboutMs, one.atOnce, one.pausesBeyond]);
    const group = groups.get(key) ?? { first: one, hosts: new Set() };
    groups.set(key, group);
    group.hosts.add(one.host);
  }
  return [...groups.values()].map(({ first: { what, aboutMs, atOnce, pausesBeyond }, hosts }) => ({
    ...{ what, aboutMs, atOnce, hosts: [...hosts] },
    ...(hosts.size > pausesBeyond ? { pauseMs: inventory.rollout.pauseMs } : {}),
  }));
}
