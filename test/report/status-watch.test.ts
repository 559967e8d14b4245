import { describe, expect, test } from 'vitest';
import type { ClusterView } from '../../src/cluster/fleet/view.ts';
import { statusOf } from '../../src/report/status-view.ts';
import { changeText, statusWatch } from '../../src/report/status-watch.ts';
import type { Status } from '../../src/report/status.ts';
import { clusterOf, cp1, fleetIn, inventoryOf, joinedControlPlane, memberOf, nodeOf } from '../fakes/cluster.ts';

const NOW = Date.parse('2026-11-21T12:00:00Z');
const inventory = inventoryOf();
const facts = joinedControlPlane({ nowMs: NOW, certificates: [] });

const status = (cluster: ClusterView, drift: readonly string[] = []): Status =>
  statusOf(inventory, fleetIn(cluster, [cp1, facts]), { drift, trouble: [] });

const nodes = (...ready: readonly boolean[]) =>
  ready.map((isReady, at) =>
    nodeOf({
      name: `w${String(at + 1)}`,
      ready: isReady,
      reason: isReady ? '' : 'kubelet stopped posting node status.',
    }),
  );

/** The changes from one cluster to the next, as lines. */
const from = (...clusters: readonly (ClusterView | Status)[]): readonly string[] => {
  const watch = statusWatch();
  let texts: readonly string[] = [];
  for (const [at, one] of clusters.entries()) {
    const atMs = NOW + at * 5000;
    texts = watch.next('state' in one ? status(one) : one, atMs).map((change) => changeText(change, atMs));
  }
  return texts;
};

const up = (over: Parameters<typeof clusterOf>[0] = {}) =>
  clusterOf({ nodes: nodes(true, true), members: [memberOf(1)], ...over });
const DOWN: ClusterView = { state: 'down', reason: 'connection refused' };

describe('status --watch', () => {
  test('the first observation has no changes, and an equal one none either', () => {
    expect(from(up())).toEqual([]);
    expect(from(up(), up())).toEqual([]);
  });

  test('a node that is no longer ready is a change, with the problem that comes with it', () => {
    expect(from(up(), up({ nodes: nodes(true, false) }))).toEqual([
      '12:00:05 ~ node w2: ready: NO, 1.36.3 (was: ready, 1.36.3)',
      '12:00:05 + problem of w2: is not Ready (kubelet stopped posting node status.)',
    ]);
  });

  test('a node that left the API is gone, and a new one is new', () => {
    expect(from(up(), up({ nodes: nodes(true) }))).toEqual(['12:00:05 - node w2: gone (was: ready, 1.36.3)']);
    expect(from(up(), up({ nodes: nodes(true, true, true) }))).toEqual(['12:00:05 + node w3: ready, 1.36.3']);
  });

  test('while the API is away nothing is gone: all of it is unknown, said once', () => {
    const first = from(up(), DOWN);
    expect(first.filter((text) => / - /.test(text))).toEqual([]);
    expect(first).toContain('12:00:05 ? node w1: not known now (was: ready, 1.36.3)');
    expect(first).toContain('12:00:05 ? etcd member cp1: not known now (was: healthy, leader)');
    expect(first.some((text) => /~ cluster .*: does not answer/.test(text))).toBe(true);
    expect(from(up(), DOWN, DOWN)).toEqual([]);
  });

  test('when the API is back, what is as before is known again, and what changed meanwhile is a change', () => {
    const back = from(up(), DOWN, up({ nodes: nodes(true, false) }));
    expect(back).toContain('12:00:10 ~ node w1: ready, 1.36.3, known again');
    expect(back).toContain('12:00:10 ~ node w2: ready: NO, 1.36.3 (was: ready, 1.36.3)');
    expect(back.filter((text) => / \+ node/.test(text))).toEqual([]);
    expect(from(up(), DOWN, up({ nodes: nodes(true) }))).toContain('12:00:10 - node w2: gone (was: ready, 1.36.3)');
  });

  test('members of etcd that could not be read are unknown, not gone', () => {
    const unread: Status = {
      ...status(up({ members: [] })),
      problems: [{ kind: 'unknown', name: 'cp1', message: 'could not tell members: no answer' }],
    };
    expect(from(up(), unread)).toContain('12:00:05 ? etcd member cp1: not known now (was: healthy, leader)');
    expect(from(up(), { ...unread, problems: [] })).toContain(
      '12:00:05 - etcd member cp1: gone (was: healthy, leader)',
    );
  });
});

describe('the frame', () => {
  const texts = (watch: ReturnType<typeof statusWatch>, rows: number, atMs: number) =>
    watch.frame({ columns: 80, rows }, atMs, '5 s').map(({ mark, text }) => `${mark} ${text}`);

  test('marks what changed for a minute, and shows rows that are unknown as they were', () => {
    const watch = statusWatch();
    watch.next(status(up()), NOW);
    watch.next(status(up({ nodes: nodes(true, false) })), NOW + 5000);
    expect(texts(watch, 24, NOW + 6000)).toContain('changed node w2: ready: NO, 1.36.3');
    expect(texts(watch, 24, NOW + 90_000)).toContain('none node w2: ready: NO, 1.36.3');
    watch.next(status(DOWN), NOW + 95_000);
    expect(texts(watch, 24, NOW + 96_000)).toContain('unknown node w1: ready, 1.36.3 (as known last)');
  });

  test('a large cluster in a small window: what changed and what is wrong, the number of the others', () => {
    const many = (bad: number) =>
      clusterOf({ nodes: nodes(...Array.from({ length: 200 }, (_, at) => at !== bad)), members: [memberOf(1)] });
    const watch = statusWatch();
    watch.next(status(many(-1)), NOW);
    watch.next(status(many(150)), NOW + 5000);
    for (const rows of [1, 2, 5, 10, 24, 60])
      expect(texts(watch, rows, NOW + 6000).length).toBeLessThanOrEqual(Math.max(1, rows - 1));
    expect(texts(watch, 24, NOW + 6000)).toContain('changed node w151: ready: NO, 1.36.3');
    expect(texts(watch, 24, NOW + 6000).some((text) => /and \d+ more rows/.test(text))).toBe(true);
  });
});
