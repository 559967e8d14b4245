import { expect, test } from 'vitest';
import type { ClusterView } from '../../src/cluster/fleet/view.ts';
import { mermaid } from '../../src/report/mermaid.ts';
import { statusOf } from '../../src/report/status-view.ts';
import {
  clusterOf,
  cp1,
  cp2,
  fleetIn,
  inventoryOf,
  joinedControlPlane,
  memberOf,
  nodeOf,
  w1,
} from '../fakes/cluster.ts';

const inventory = inventoryOf({ hosts: [cp1, cp2, w1] });
const graph = (cluster: ClusterView, over: Partial<typeof inventory> = {}): string => {
  const its = { ...inventory, ...over };
  return mermaid(
    its,
    statusOf(its, fleetIn(cluster, [cp1, joinedControlPlane({ nowMs: 0, certificates: [] })]), {
      drift: [],
      trouble: [],
    }),
  );
};

const worker = (index: number, over: object = {}) => nodeOf({ name: `w${String(index)}`, ...over });

test('a cluster with a virtual address, etcd, workers of two systems, and a node that is not ready', async () => {
  const cluster = clusterOf({
    nodes: [
      nodeOf({ name: 'cp1', role: 'control-plane' }),
      nodeOf({ name: 'cp2', role: 'control-plane', ready: false, reason: 'down' }),
      ...[1, 2, 3, 4, 5, 6, 7, 8].map((index) => worker(index)),
      worker(9, { os: 'Windows Server 2025', kubeletVersion: '1.35.1', ready: false, reason: 'gone' }),
    ],
    members: [memberOf(1), memberOf(2, { healthy: false })],
    apiServers: new Map([['cp1', 'ok']]),
  });
  const loadBalancer = { kind: 'kube-vip', address: '10.0.0.100' } as never;
  await expect(graph(cluster, { loadBalancer })).toMatchFileSnapshot('../golden/cluster.mmd');
});

test('a cluster that does not answer is unknown, with the reason', () => {
  expect(graph({ state: 'down', reason: 'connection refused' })).toMatch(
    /^flowchart TB\n {2}cluster\["demo<br\/>unknown: its API does not answer: connection refused.*"\]\n$/,
  );
});

test('names and texts of hosts end no label and are no HTML, and no name is an identifier', () => {
  const text = graph(clusterOf({ nodes: [worker(1, { name: 'end', os: 'a"] --> b\n<img onerror=x>`#quot;' })] }));
  expect(text).not.toMatch(/<img|"\] --> b|`/);
  expect(text).toContain('a#34;] --#62; b#10;#60;img onerror=x#62;#96;#35;quot;');
  expect(text).not.toMatch(/^ *end\[/m);
});

test('every line is one that the grammar of a flowchart knows', () => {
  const lines = graph(clusterOf({ nodes: [worker(1), nodeOf({ name: 'cp1', role: 'control-plane' })] }))
    .trimEnd()
    .split('\n');
  const known = [
    /^flowchart TB$/,
    /^ {2}endpoint\("[^"]*"\)$/,
    /^ {2}subgraph \w+\["[^"]*"\]$/,
    /^ {4}\w+\["[^"]*"\]:::(?:good|bad)$/,
    /^ {4}\w+\[\("[^"]*"\)\](?::::(?:good|bad))?$/,
    /^ {2}end$/,
    /^ {2}\w+ --> \w+$/,
    /^ {2}classDef \w+ [\w#:,-]+$/,
  ];
  expect(lines.filter((line) => !known.some((shape) => shape.test(line)))).toEqual([]);
});
