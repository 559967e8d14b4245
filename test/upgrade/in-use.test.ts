import { describe, expect, test } from 'vitest';
import { removedInUse, type SettingsPlace } from '../../src/upgrade/removed.value.ts';

const place = (over: Partial<SettingsPlace>): SettingsPlace => ({
  where: 'kubeadm.cluster.controllerManager.extraArgs',
  source: 'inventory',
  hosts: [],
  component: 'kube-controller-manager',
  flags: [],
  featureGates: {},
  ...over,
});
const flag = (name: string, value = 'true') => ({ flags: [{ name, value }] });
const messages = (over: Partial<SettingsPlace>, from = '1.34.4', to = '1.37.1'): readonly string[] =>
  removedInUse([place(over)], from, to).map(({ message }) => message);

describe('removed settings in use', () => {
  test('names the gate, its place and the minor that does not know it', () => {
    expect(removedInUse([place(flag('feature-gates', 'MemoryManager=true'))], '1.35.8', '1.36.4')).toEqual([
      {
        where: 'kubeadm.cluster.controllerManager.extraArgs',
        source: 'inventory',
        hosts: [],
        component: 'kube-controller-manager',
        kind: 'gate',
        name: 'MemoryManager',
        removedIn: '1.36',
        kbuildRemovesIt: false,
        message: 'feature gate MemoryManager=true: Kubernetes 1.36 does not know it',
      },
    ]);
  });

  test.each(['kube-apiserver', 'kube-controller-manager', 'kube-scheduler'] as const)(
    'a gate that is gone counts for %s',
    (component) => {
      expect(messages({ component, featureGates: { SidecarContainers: true } })).toEqual([
        'feature gate SidecarContainers=true: Kubernetes 1.37 does not know it',
      ]);
    },
  );

  test('a gate counts from the flag and from the configuration file, also after the name of a component', () => {
    expect(messages(flag('feature-gates', 'ContextualLogging=true, kube:MemoryManager=false'))).toEqual([
      'feature gate MemoryManager=false: Kubernetes 1.36 does not know it',
    ]);
    expect(messages({ component: 'kubelet', featureGates: { MemoryManager: true } })).toEqual([
      'feature gate MemoryManager=true: Kubernetes 1.36 does not know it',
    ]);
  });

  test('a gate that an older minor removed, or a newer one than the desired, does not count', () => {
    const sidecars = flag('feature-gates', 'SidecarContainers=true');
    expect(messages(sidecars, '1.36.3', '1.36.4')).toEqual([]);
    expect(messages(sidecars, '1.35.8', '1.36.4')).toEqual([]);
    expect(messages(sidecars, '1.37.0', '1.37.1')).toEqual([]);
    expect(messages(sidecars, '1.36.3', '1.37.1')).toHaveLength(1);
  });

  test('a locked gate counts only with another value than the accepted one', () => {
    expect(messages(flag('feature-gates', 'ExecProbeTimeout=true'))).toEqual([]);
    expect(messages(flag('feature-gates', 'ExecProbeTimeout=false'))).toEqual([
      'feature gate ExecProbeTimeout=false: Kubernetes 1.35 accepts only true',
    ]);
    expect(messages(flag('feature-gates', 'GitRepoVolumeDriver=1'))).toEqual([
      'feature gate GitRepoVolumeDriver=true: Kubernetes 1.36 accepts only false',
    ]);
  });

  test('a gate that is locked and later removed is reported once, with the first minor', () => {
    const tracing = flag('feature-gates', 'APIServerTracing=false');
    expect(messages(tracing, '1.33.4')).toEqual([
      'feature gate APIServerTracing=false: Kubernetes 1.34 accepts only true',
    ]);
    expect(messages(tracing, '1.34.4')).toEqual([
      'feature gate APIServerTracing=false: Kubernetes 1.37 does not know it',
    ]);
  });

  test('a flag counts only for the component that lost it', () => {
    expect(messages(flag('concurrent-service-syncs', '5'))).toEqual([
      '--concurrent-service-syncs: Kubernetes 1.37 does not know it',
    ]);
    expect(messages({ component: 'kube-apiserver', ...flag('concurrent-service-syncs', '5') })).toEqual([]);
  });

  test('a flag of etcd names the etcd that comes with the minor', () => {
    expect(messages({ component: 'etcd', ...flag('experimental-corrupt-check-time', '4h') })).toEqual([
      '--experimental-corrupt-check-time: etcd 3.7, which comes with Kubernetes 1.37, does not know it',
    ]);
    expect(messages({ component: 'etcd', ...flag('corrupt-check-time', '4h') })).toEqual([]);
  });

  test('gates of Kubernetes and of kubeadm are not mixed up', () => {
    const featureGates = { PublicKeysECDSA: true };
    expect(messages({ component: 'kubeadm', featureGates })).toEqual([
      'feature gate PublicKeysECDSA=true: kubeadm 1.37 does not know it',
    ]);
    expect(messages({ component: 'kubelet', featureGates })).toEqual([]);
  });

  test('a deprecated flag in kubeadm-flags.env is removed by kbuild, elsewhere by the operator', () => {
    const pause = { component: 'kubelet' as const, ...flag('pod-infra-container-image', 'pause:3.10') };
    const removes = (source: SettingsPlace['source']) =>
      removedInUse([place({ ...pause, source })], '1.34.4', '1.35.8').map((use) => use.kbuildRemovesIt);
    expect(removes('kubeadm-flags.env')).toEqual([true]);
    expect(removes('inventory')).toEqual([false]);
    expect(removes('administrator')).toEqual([false]);
  });

  test('an API version of which nothing is left stops the API server that enables one of its resources', () => {
    const config = flag('runtime-config', 'api/all=true,scheduling.k8s.io/v1alpha2/workloads=true');
    expect(messages({ component: 'kube-apiserver', ...config })).toEqual([
      '--runtime-config with scheduling.k8s.io/v1alpha2: Kubernetes 1.37 does not know this API version',
    ]);
    expect(messages({ component: 'kube-scheduler', ...config })).toEqual([]);
  });
});
