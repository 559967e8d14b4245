import { describe, expect, test } from 'vitest';
import type { Target } from '../../src/engine/step.ts';
import { kubernetesPackages } from '../../src/kubeadm/packages.step.ts';
import { clusterOf, joinedWorker, nodeOf, podOf } from '../fakes/cluster.ts';
import { converged } from '../fakes/converged.ts';
import { inventory } from '../fakes/inventory.ts';
import { target } from '../fakes/target.ts';

const summaries = (seen: Target) => kubernetesPackages.flatMap((step) => step.diff(seen)).map(({ summary }) => summary);

test('a fresh host needs the repository, the exact version and the kubelet enabled', () =>
  expect(summaries(target())).toEqual([
    'write /etc/apt/keyrings/kbuild-kubernetes.asc with the key DE15B14486CD377B9E876E1A234654DA9A296436 (found none)',
    'write /etc/apt/sources.list.d/kbuild-kubernetes.list (found none)',
    'install kubelet 1.36.3 (found none), kubeadm 1.36.3 (found none), kubectl 1.36.3 (found none), kubernetes-cni (found none)',
    'enable kubelet (found none)',
  ]));

test('a converged host needs nothing, though its kubelet restarts in a loop until kubeadm has run', async () =>
  expect(summaries(await converged('worker'))).toEqual([]));

describe('a kubelet that is enabled and stopped', () => {
  const stopped = new Map([
    ['kubelet', { load: 'loaded', active: 'inactive', enabled: 'enabled', startedMs: 0, needsDaemonReload: false }],
  ]);

  test('is left alone before the host has joined', async () =>
    expect(summaries(await converged('worker', {}, { services: stopped }))).toEqual([]));

  test('is started on a host that has joined', async () => {
    const { kubernetesTraces, caFingerprint, kubeconfigCluster } = joinedWorker();
    const about = { cluster: clusterOf({ name: 'test', nodes: [nodeOf({ name: 'w1' })] }) };
    const facts = { kubernetesTraces, caFingerprint, kubeconfigCluster, services: stopped };
    expect(summaries(await converged('worker', about, facts))).toEqual(['start kubelet (found enabled, inactive)']);
  });
});

test('a host that has joined keeps the version of the cluster when the inventory names another', async () => {
  const traces = { kubernetesTraces: new Set(['/etc/kubernetes/kubelet.conf']) };
  const joined = await converged('worker', {}, traces);
  const newer = inventory({ kubernetes: { version: '1.36.4' } });
  expect(summaries({ ...joined, inventory: newer })).toEqual([]);
});

describe('while an upgrade by hand is under way', () => {
  const image = (version: string) => ({ images: [`registry.k8s.io/kube-apiserver:v${version}`] });
  const pod = (node: string, version: string) =>
    podOf({ name: `kube-apiserver-${node}`, node, labels: { component: 'kube-apiserver' }, ...image(version) });
  const nodes = ['cp1', 'cp2'].map((name) => nodeOf({ name, role: 'control-plane' }));
  const pods = [pod('cp1', '1.37.1'), pod('cp2', '1.36.3')];
  const about = { cluster: clusterOf({ version: '1.37.1', nodes, pods }) };
  const edited = (seen: Target) => ({
    ...seen,
    inventory: inventory({ kubernetes: { version: '1.37.1', minor: '1.37' } }),
  });
  const traces = { kubernetesTraces: new Set(['/etc/kubernetes/kubelet.conf']) };
  const installs = (seen: Target) => summaries(seen).filter((one) => one.startsWith('install'));
  const at = (version: string) =>
    new Map(
      ['kubelet', 'kubeadm', 'kubectl', 'kubernetes-cni'].map((name) => [
        name,
        { state: 'installed' as const, version: `${version}-1.1`, held: true },
      ]),
    );

  test('no newer kubelet is put onto a host that has joined', async () =>
    expect(installs(edited(await converged('worker', about, traces)))).toEqual([]));

  test('an older one stays: only an upgrade drains the node first', async () =>
    expect(installs(edited(await converged('worker', about, { ...traces, packages: at('1.36.1') })))).toEqual([]));

  test('what the upgrade has put onto its control plane stays', async () =>
    expect(installs(edited(await converged('control-plane', about, { ...traces, packages: at('1.37.1') })))).toEqual(
      [],
    ));

  test('a fresh host gets no newer kubelet than the oldest API server', async () =>
    expect(installs(edited(await converged('worker', about, { packages: new Map() })))[0]).toContain('kubelet 1.36.3'));
});
