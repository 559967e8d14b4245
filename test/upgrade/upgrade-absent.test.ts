import { expect, test } from 'vitest';
import type { NodeView } from '../../src/cluster/fleet/view.ts';
import { upgrade } from '../../src/commands/upgrade.phases.ts';
import { onlyHosts } from '../../src/engine/phases.ts';
import { changesIn, plan, withoutAbsent } from '../../src/engine/plan.ts';
import { addonsUpgraded } from '../../src/upgrade/cluster.step.ts';
import { hopsThrough } from '../../src/upgrade/hop.ts';
import {
  clusterOf,
  cp1,
  cp2,
  cp3,
  inventoryOf,
  joinedControlPlane,
  joinedWorker,
  memberOf,
  nodeOf,
  podOf,
  w1,
} from '../fakes/cluster.ts';
import { fleet } from '../fakes/fleet.ts';

const FROM = '1.36.3';
const hosts = [cp1, cp2, cp3, w1];
const inventory = inventoryOf({
  hosts,
  kubernetes: { ...inventoryOf().kubernetes, version: '1.37.1', minor: '1.37' },
});
const COMPONENTS = ['kube-apiserver', 'kube-controller-manager', 'kube-scheduler'];
const proxyOn = (node: string, version: string) =>
  podOf({
    name: `kube-proxy-${node}`,
    node,
    labels: { 'k8s-app': 'kube-proxy' },
    images: [`registry.k8s.io/kube-proxy:v${version}`],
  });
const nodes = (silent: string): readonly NodeView[] =>
  hosts.map(({ name, role }) =>
    nodeOf({
      name,
      role: role === 'control-plane' ? role : 'worker',
      kubeletVersion: `v${FROM}`,
      ready: name !== silent,
    }),
  );

test('while a control plane is absent, an upgrade drains no other one and changes no package there: all of that waits', () => {
  const installed = new Map(
    ['kubeadm', 'kubelet', 'kubectl'].map((name) => [
      name,
      { state: 'installed' as const, version: `${FROM}-1.1`, held: true },
    ]),
  );
  const seen = fleet({
    inventory,
    unreachable: ['cp3'],
    cluster: clusterOf({
      version: FROM,
      nodes: nodes('cp3'),
      pods: [
        ...[cp1, cp2, cp3].flatMap(({ name }) =>
          [...COMPONENTS.map((one) => [one, `v${FROM}`]), ['etcd', '3.6.11-0']].map(([component, tag]) =>
            podOf({
              name: `${component!}-${name}`,
              node: name,
              labels: { component: component!, tier: 'control-plane' },
              images: [`registry.k8s.io/${component!}:${tag!}`],
              startedMs: 1,
            }),
          ),
        ),
        ...hosts.map(({ name }) => proxyOn(name, FROM)),
      ],
      members: [memberOf(1), memberOf(2), memberOf(3, { healthy: false })],
      apiServers: new Map([
        ['cp1', 'ok'],
        ['cp2', 'ok'],
        ['cp3', 'no answer'],
      ]),
    }),
    facts: Object.fromEntries(
      hosts.map(({ name, role }) => [
        name,
        { ...(role === 'worker' ? joinedWorker() : joinedControlPlane()), packages: installed },
      ]),
    ),
  });
  const all = upgrade(inventory, seen, {
    hops: hopsThrough(FROM, ['1.37.1']),
    keep: () => Promise.resolve(),
    drain: { timeoutMs: 1000 },
    losesPods: false,
    atOnce: 1,
  });
  const { phases, waiting } = withoutAbsent(
    onlyHosts(all, ({ role }) => role !== 'worker'),
    inventory,
    seen,
  );
  const made = changesIn(plan(phases, inventory, seen).changes).filter(({ phase }) =>
    /^(?:etcd|control-plane|addons)-/.test(phase),
  );
  expect(made).toEqual([]);
  expect(waiting.map(({ summary }) => summary)).toEqual(
    expect.arrayContaining(['drain cp1 (found Ready)', 'let cp2 take pods again']),
  );
});

test('addons do not wait for the pod of a node that reports no more', () => {
  const due = (silent: string) => {
    const cluster = clusterOf({
      version: '1.37.1',
      nodes: nodes(silent),
      pods: [proxyOn('cp1', '1.37.1'), proxyOn('w1', FROM)],
    });
    const target = { inventory, host: cp1, facts: cluster, fleet: fleet({ inventory, cluster }) };
    return addonsUpgraded({ version: '1.37.1' })
      .diff(target)
      .map(({ summary }) => summary);
  };
  expect(due('none')).toEqual(['upgrade the addons of Kubernetes 1.37.1 (found older kube-proxy, 1 of 2 pods)']);
  expect(due('w1')).toEqual([]);
});
