import { beforeEach, describe, expect, test } from 'vitest';
import type { Fleet } from '../../src/cluster/fleet/fleet.ts';
import type { ClusterView } from '../../src/cluster/fleet/view.ts';
import { turns } from '../../src/engine/batches.ts';
import type { Convergence } from '../../src/engine/convergence.ts';
import { inGoodHealth } from '../../src/engine/health.ts';
import { NotConverged } from '../../src/errors.ts';
import { clusterOf, cp1, fleetIn, inventoryOf, joinedHost, memberOf, nodeOf, w1, w2 } from '../fakes/cluster.ts';

const inventory = inventoryOf({ hosts: [cp1, w1, w2] });
const MINUTES = 60_000;

/** What the cluster says at a moment, in ms since the test began. */
let cluster: (nowMs: number) => ClusterView;
let nowMs: number;
let said: string[];
let turn: ReturnType<typeof turns>;

const well = (ready = true): ClusterView =>
  clusterOf({
    members: [memberOf(1)],
    nodes: [
      nodeOf({ name: 'cp1', role: 'control-plane' }),
      nodeOf({ name: 'w1', ready, reason: ready ? '' : 'runtime is down' }),
      nodeOf({ name: 'w2' }),
    ],
  });

const fleet = (): Fleet => fleetIn(cluster(nowMs), joinedHost(cp1), joinedHost(w1), joinedHost(w2));

const run = {
  inventory,
  observations: {
    evaluate: <R>(question: (fleet: Fleet) => R) => Promise.resolve({ value: question(fleet()), sawCluster: true }),
    expire: () => undefined,
    expireCluster: () => undefined,
    expireOldOf: () => undefined,
  },
  emit: (event: { readonly summary?: string }) => void said.push(event.summary ?? ''),
  nowMs: () => nowMs,
  sleep: (ms: number) => Promise.resolve(void (nowMs += ms)),
  signal: new AbortController().signal,
} as unknown as Convergence;

const disrupt = (host: typeof w1, work: () => Promise<string> = () => Promise.resolve('done')) =>
  inGoodHealth(run, turn, { phase: 'runtime', host: host.name, step: 'package' }, host, work);

beforeEach(() => {
  nowMs = 0;
  said = [];
  turn = turns(run);
  cluster = () => well();
});

test('a healthy host is changed at once, and its turn ends when it is healthy again', async () => {
  cluster = (now) => well(now === 0 || now > 20_000);
  await expect(disrupt(w1, () => Promise.resolve(String((nowMs = 1000))))).resolves.toBe('1000');
  expect(nowMs).toBeGreaterThan(20_000);
  expect([...new Set(said)]).toEqual(['wait until w1 is well again: its node is not Ready (runtime is down)']);
});

test('a host that stays unhealthy fails, and the same change does not reach the next host', async () => {
  cluster = (now) => well(now === 0);
  await expect(disrupt(w1, () => Promise.resolve(String((nowMs = 1))))).rejects.toThrow('w1 is not well again');
  expect(nowMs).toBeGreaterThan(4 * MINUTES);
  await expect(disrupt(w2)).rejects.toThrow('w2 was left as it is, because w1 is not well since the same change');
});

test('a change that fails on a host that stays healthy does not stop other hosts', async () => {
  await expect(disrupt(w1, () => Promise.reject(new Error('no repository')))).rejects.toThrow('no repository');
  await expect(disrupt(w2)).resolves.toBe('done');
});

test('a host that was unhealthy before is changed without waiting for its health', async () => {
  cluster = () => well(false);
  await expect(disrupt(w1)).resolves.toBe('done');
  expect(nowMs).toBe(0);
});

test('a control plane waits for the other control planes, and stays unchanged when they stay unhealthy', async () => {
  const seen = (healthy: boolean) => clusterOf({ members: [memberOf(1), memberOf(2, { healthy }), memberOf(3)] });
  cluster = (now) => seen(now > MINUTES);
  await expect(disrupt(cp1)).resolves.toBe('done');
  expect(nowMs).toBeGreaterThan(MINUTES);
  cluster = () => seen(false);
  await expect(disrupt(cp1)).rejects.toThrow(NotConverged);
  await expect(disrupt(cp1)).rejects.toThrow('etcd would lose quorum without it: cp2 is not healthy');
});

test('waits 30 s for an API that is down, then applies the change, which may repair it', async () => {
  cluster = () => ({ state: 'down', reason: 'refused' });
  await expect(disrupt(cp1)).resolves.toBe('done');
  expect(nowMs).toBe(30_000);
});

describe('a pause between batches of workers', () => {
  const phase = {
    name: 'kubelets',
    title: 'Kubelets',
    kind: 'linux',
    hosts: [w1, w2],
    steps: [],
    concurrency: 1,
  } as const;
  const place = (host: typeof w1) => ({ phase: phase.name, host: host.name, step: 'kubelet-settings' });
  const pausing = { ...run, inventory: { ...inventory, rollout: { ...inventory.rollout, pauseMs: 600_000 } } };

  test.each([
    ['the others stay as they are if a host of the batch before is not well any more', well(), ['w1']],
    ['goes on if the host was not well before the pause either', well(false), []],
  ])('%s', async (_, before, broken) => {
    cluster = (now) => (now === 0 ? before : well(false));
    const { batches, ...turn } = turns(pausing);
    await expect(batches.enter(phase, place(w1), w1)).resolves.toBe(false);
    batches.leave(phase, w1);
    await expect(batches.enter(phase, place(w2), w2)).resolves.toBe(true);
    expect(nowMs).toBeGreaterThanOrEqual(600_000);
    expect([...turn.broken]).toEqual(broken);
  });
});
