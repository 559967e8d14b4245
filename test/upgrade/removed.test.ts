import { describe, expect, test } from 'vitest';
import { type RemovedInMinor, removedTables } from '../../src/upgrade/removed.value.ts';
import { supportedMinors } from '../../src/versions.ts';

const of = (minor: string): RemovedInMinor => removedTables().find((table) => table.minor === minor)!;

describe('tables of what Kubernetes removed', () => {
  test('cover every minor that kbuild builds, oldest first', () => {
    expect(removedTables().map(({ minor }) => minor)).toEqual(supportedMinors);
  });

  test('compare each version with the one before, without a gap', () => {
    const pairs = removedTables().map(({ compared }) => compared.kubernetes);
    expect(pairs.slice(1).map(([older]) => older)).toEqual(pairs.slice(0, -1).map(([, newer]) => newer));
  });

  test.each([
    ['1.35', 11, ['LoadBalancerIPMode', 'PodIndexLabel']],
    ['1.36', 9, ['MemoryManager', 'HonorPVReclaimPolicy', 'TopologyAwareHints']],
    ['1.37', 25, ['SidecarContainers', 'APIServerTracing', 'GangScheduling']],
  ])('hold the feature gates that Kubernetes %s removed', (minor, count, some) => {
    expect(of(minor).gates('kubelet')).toHaveLength(count);
    expect(of(minor).gates('kube-apiserver')).toEqual(expect.arrayContaining(some));
  });

  test.each([
    ['1.35', 'ExecProbeTimeout', true],
    ['1.36', 'GitRepoVolumeDriver', false],
    ['1.36', 'UserNamespacesSupport', true],
    ['1.37', 'NodeDeclaredFeatures', true],
  ])('hold the gate that Kubernetes %s locked: %s=%s', (minor, name, value) => {
    expect(of(minor).locked('kube-scheduler')).toContainEqual({ name, value });
  });

  test('hold the gates of kubeadm, which has a set of its own', () => {
    expect(removedTables().map((table) => table.gates('kubeadm'))).toEqual([
      [],
      ['WaitForAllControlPlaneComponents'],
      ['ControlPlaneKubeletLocalMode'],
      ['NodeLocalCRISocket', 'PublicKeysECDSA'],
    ]);
  });

  test('hold the flags that kubelets lost, and marks those that kbuild removes', () => {
    expect(of('1.34').flags('kubelet')).toEqual([
      { name: 'cloud-config', kbuildRemovesIt: false },
      { name: 'register-schedulable', kbuildRemovesIt: false },
    ]);
    expect(of('1.35').flags('kubelet')).toEqual([{ name: 'pod-infra-container-image', kbuildRemovesIt: true }]);
    expect(of('1.36').flags('kubelet')).toEqual([]);
    expect(of('1.37').flags('kubelet')).toHaveLength(18);
    expect(of('1.37').flags('kubelet')).toContainEqual({ name: 'storage-driver-host', kbuildRemovesIt: true });
  });

  test('hold the flag that the controller manager lost, and none of API server and scheduler', () => {
    expect(of('1.37').flags('kube-controller-manager')).toEqual([
      { name: 'concurrent-service-syncs', kbuildRemovesIt: false },
    ]);
    for (const table of removedTables())
      expect([...table.flags('kube-apiserver'), ...table.flags('kube-scheduler')]).toEqual([]);
  });

  test('hold every experimental flag of etcd 3.6 and its discovery by v2 for Kubernetes 1.37', () => {
    const names = of('1.37')
      .flags('etcd')
      .map(({ name }) => name);
    expect(names).toEqual(expect.arrayContaining(['discovery', 'discovery-proxy', 'experimental-corrupt-check-time']));
    expect(names.filter((name) => !name.startsWith('experimental-'))).toEqual(['discovery', 'discovery-proxy']);
  });

  test('hold the APIs that are no longer served, and versions of which nothing is left', () => {
    expect(of('1.35').apis).toContain('storage.k8s.io/v1alpha1/VolumeAttributesClass');
    expect(of('1.37').apis).toEqual(
      expect.arrayContaining([
        'networking.k8s.io/v1beta1/IPAddress',
        'networking.k8s.io/v1beta1/ServiceCIDR',
        'storage.k8s.io/v1beta1/VolumeAttributesClass',
        'certificates.k8s.io/v1alpha1/ClusterTrustBundle',
        'scheduling.k8s.io/v1alpha2/Workload',
      ]),
    );
    expect(of('1.37').groupVersions).toEqual(['scheduling.k8s.io/v1alpha2']);
  });
});
