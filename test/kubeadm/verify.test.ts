import { describe, expect, test } from 'vitest';
import type { ClusterUp, ClusterView } from '../../src/cluster/fleet/view.ts';
import { cgroupProved, nodeReady, settled } from '../../src/kubeadm/ready.step.ts';
import { networkReady } from '../../src/network/ready.step.ts';
import {
  clusterOf,
  cp1,
  factsOf,
  fleetIn,
  inventoryOf,
  joinedControlPlane,
  nodeOf,
  podOf,
  targetOf,
} from '../fakes/cluster.ts';
import { calicoNetwork, noNetwork } from '../fakes/network.ts';

const inventory = inventoryOf();
const none = inventoryOf({ network: noNetwork });
const services = { api: true, dns: true };
const flannel = podOf({ name: 'kube-flannel-ds-x', namespace: 'kube-flannel', labels: { app: 'flannel' } });
const carrying = clusterOf({ pods: [flannel] });
const down: ClusterView = { state: 'down', reason: 'connection refused' };
const unready = clusterOf({
  nodes: [nodeOf({ name: 'cp1', ready: false, reason: 'KubeletNotReady: no CNI' })],
  pods: [flannel],
});

const target = (cluster: ClusterView, facts = joinedControlPlane({ serviceNetwork: services }), of = inventory) =>
  targetOf(of, cp1, fleetIn(cluster, [cp1, facts]));
const said = (changes: readonly { readonly summary: string; readonly apply?: unknown }[]) => {
  expect(changes.every(({ apply }) => apply === undefined)).toBe(true);
  return changes.map(({ summary }) => summary);
};

describe('node-ready waits for', () => {
  test.each([
    ['nothing on a Ready node', carrying, undefined, []],
    ['the API', down, undefined, ['wait for the API server to answer (connection refused)']],
    ['a node', clusterOf({ nodes: [] }), undefined, ['wait until cp1 is registered (found no node)']],
    ['Ready', unready, undefined, ['wait until cp1 is Ready (found KubeletNotReady: no CNI)']],
    ['the kubelet', carrying, factsOf(), ['wait until the kubelet of cp1 is healthy']],
  ] as const)('%s', (_, cluster, facts, expected) => {
    expect(said(nodeReady.diff(target(cluster, facts)))).toEqual(expected);
  });

  test('a registered node with a healthy kubelet where the network is the user’s', () => {
    expect(nodeReady.diff(target(unready, undefined, none))).toEqual([]);
  });
});

describe('network-ready waits for', () => {
  const silent = joinedControlPlane({ serviceNetwork: { api: true, dns: false } });

  test.each([
    ['nothing where it carries', carrying, undefined, []],
    ['a cluster', { state: 'absent' } as const, undefined, ['wait until the pod network of cp1 works']],
    ['the plugin', clusterOf({ pods: [] }), undefined, ['wait for flannel on cp1 (found no pod)']],
    [
      'its pod',
      clusterOf({ pods: [{ ...flannel, ready: false }] }),
      undefined,
      ['wait for flannel on cp1 (found kube-flannel-ds-x not ready)'],
    ],
    ['the node', unready, undefined, ['wait until cp1 is Ready (found KubeletNotReady: no CNI)']],
    ['DNS', carrying, silent, ['wait until the Service address of DNS answers cp1']],
    [
      'DNS, and names what does not run that it needs',
      clusterOf({
        pods: [
          flannel,
          podOf({
            name: 'kube-proxy-a',
            labels: { 'k8s-app': 'kube-proxy' },
            node: 'cp1',
            ready: false,
            trouble: 'CrashLoopBackOff',
          }),
          podOf({ name: 'kube-proxy-b', labels: { 'k8s-app': 'kube-proxy' }, node: 'w1', ready: false }),
          podOf({ name: 'coredns-a', labels: { 'k8s-app': 'kube-dns' }, node: 'w1', ready: false }),
        ],
      }),
      silent,
      [
        'wait until the Service address of DNS answers cp1 (found kube-proxy-a not ready: CrashLoopBackOff; coredns-a not ready)',
      ],
    ],
    ['its join', carrying, joinedControlPlane({ serviceNetwork: 'absent' }), ['wait until cp1 has joined']],
  ] as const)('%s', (_, cluster, facts, expected) => {
    expect(said(networkReady.diff(target(cluster, facts)))).toEqual(expected);
  });

  test('Calico’s pod, where it is Calico', () => {
    const calico = inventoryOf({ network: calicoNetwork() });
    const of = (pods: ClusterUp['pods']) =>
      said(networkReady.diff(target(clusterOf({ ...carrying, pods }), undefined, calico)));
    expect(of([flannel])).toEqual(['wait for calico on cp1 (found no pod)']);
    const operator = podOf({
      name: 'tigera-operator-x',
      namespace: 'tigera-operator',
      ready: false,
      trouble: 'ImagePullBackOff: no such host',
    });
    expect(of([operator])).toEqual([
      'wait for calico on cp1 (found no pod; tigera-operator-x not ready: ImagePullBackOff: no such host)',
    ]);
    expect(of([podOf({ name: 'calico-node-x', labels: { 'k8s-app': 'calico-node' } })])).toEqual([]);
  });

  test('nothing where the network is the user’s', () => {
    expect(networkReady.diff(target(clusterOf({ pods: [] }), undefined, none))).toEqual([]);
  });
});

describe('settled', () => {
  const nowMs = 1_800_000_000_000;
  const of = (facts: ClusterView) => said(settled.diff({ inventory, host: cp1, facts, fleet: fleetIn(facts) }));
  const etcd = (lastRestartMs: number) =>
    clusterOf({ nowMs, pods: [podOf({ name: 'etcd-cp1', labels: { component: 'etcd' }, lastRestartMs })] });

  test('without a restart there is no wait', () => {
    expect(of(etcd(0))).toEqual([]);
    expect(of(etcd(nowMs - 30_000))).toEqual([]);
  });

  test('a restart within 30 s is waited out', () => {
    expect(of(etcd(nowMs - 29_000))).toEqual([
      'wait until the control plane has run for 30 s (found etcd-cp1 restarted)',
    ]);
  });

  test('pods that are not the control plane’s may restart', () => {
    expect(of(clusterOf({ nowMs, pods: [podOf({ name: 'coredns-x', lastRestartMs: nowMs })] }))).toEqual([]);
  });
});

describe('cgroup-proved', () => {
  const of = (cgroupDriverInUse: 'systemd' | 'cgroupfs' | 'none' | 'mixed') =>
    said(
      cgroupProved.diff(
        target(
          carrying,
          joinedControlPlane({
            cgroupDriverInUse,
            runtimeConfig: 'absent',
            kubeletConfig: { cgroupDriver: 'systemd' },
          }),
        ),
      ),
    );

  test('holds where containers use the inventory’s driver, and where none runs', () => {
    expect([of('systemd'), of('none')]).toEqual([[], []]);
  });

  test('waits while runtime and kubelet disagree', () => {
    expect(of('mixed')).toEqual(['wait until containers use the cgroup driver systemd (found mixed)']);
  });
});
