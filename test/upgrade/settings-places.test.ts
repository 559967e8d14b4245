import { describe, expect, test } from 'vitest';
import type { LinuxFacts } from '../../src/cluster/fleet/linux.ts';
import type { ClusterView } from '../../src/cluster/fleet/view.ts';
import { FactError } from '../../src/errors.ts';
import type { Inventory } from '../../src/inventory/inventory.ts';
import { settingsPlaces } from '../../src/upgrade/settings-places.ts';
import { clusterOf, cp1, fleetIn, inventoryOf, joinedHost, w1, w2 } from '../fakes/cluster.ts';

const files: Partial<LinuxFacts> = { kubeletFlags: [], kubeletConfig: {}, kubeletOverrides: [] };
const noKubeadm = inventoryOf().kubeadm;

/** The places of a cluster of cp1, w1 and w2. */
function placesOf({
  inventory = {},
  cluster = clusterOf(),
  facts = {},
}: {
  readonly inventory?: Partial<Inventory>;
  readonly cluster?: ClusterView;
  readonly facts?: Readonly<Record<string, Partial<LinuxFacts>>>;
}) {
  const hosts = inventory.hosts ?? [cp1, w1, w2];
  const seen = [cp1, w1, w2].map((host) => joinedHost(host, { ...files, ...facts[host.name] }));
  return settingsPlaces(inventoryOf({ ...inventory, hosts }), fleetIn(cluster, ...seen));
}

describe('places of settings', () => {
  test('without settings there are none', () => {
    expect(placesOf({})).toEqual([]);
  });

  test('arguments of the components and gates of kubeadm in the inventory', () => {
    const gates = { name: 'feature-gates', value: 'MemoryManager=true' };
    const cluster = {
      apiServer: { extraArgs: [{ name: 'runtime-config', value: 'api/all=true' }] },
      controllerManager: { extraArgs: [gates] },
      etcd: { local: { extraArgs: [{ name: 'experimental-memory-mlock', value: 'true' }] } },
      featureGates: { PublicKeysECDSA: true },
    };
    const kubeProxy = { featureGates: { TopologyAwareHints: true } };
    const places = placesOf({ inventory: { kubeadm: { ...noKubeadm, cluster, kubeProxy } } });
    expect(places.map(({ where, component, source }) => [where, component, source])).toEqual([
      ['kubeadm.cluster.apiServer.extraArgs', 'kube-apiserver', 'inventory'],
      ['kubeadm.cluster.controllerManager.extraArgs', 'kube-controller-manager', 'inventory'],
      ['kubeadm.cluster.etcd.local.extraArgs', 'etcd', 'inventory'],
      ['kubeadm.cluster.featureGates', 'kubeadm', 'inventory'],
      ['kubeadm.kubeProxy.featureGates', 'kube-proxy', 'inventory'],
    ]);
    expect(places[1]).toMatchObject({ flags: [gates], featureGates: {}, hosts: [] });
  });

  test.each([
    ['a list (v1beta4)', [{ name: 'feature-gates', value: 'A=true' }]],
    ['an object (older clusters)', { 'feature-gates': 'A=true' }],
  ])('arguments of the live ClusterConfiguration, as %s', (_, extraArgs) => {
    const configuration = { scheduler: { extraArgs } };
    expect(placesOf({ cluster: clusterOf({ configuration }) })).toEqual([
      {
        where: 'ConfigMap kubeadm-config (scheduler.extraArgs)',
        source: 'kubeadm-config',
        hosts: [],
        component: 'kube-scheduler',
        flags: [{ name: 'feature-gates', value: 'A=true' }],
        featureGates: {},
      },
    ]);
  });

  test("gates of the cluster's KubeletConfiguration", () => {
    expect(placesOf({ cluster: clusterOf({ kubeletConfiguration: { featureGates: { A: true, B: false } } }) })).toEqual(
      [
        {
          where: 'ConfigMap kubelet-config (featureGates)',
          source: 'kubelet-config',
          hosts: [],
          component: 'kubelet',
          flags: [],
          featureGates: { A: true, B: false },
        },
      ],
    );
  });

  test('kubelets of the inventory with the same settings are one place; one on all hosts names none', () => {
    const kubelet = { config: { featureGates: { A: true } }, extraArgs: [{ name: 'v', value: '4' }] };
    const all = [cp1, w1, w2].map((host) => ({ ...host, kubelet }));
    expect(placesOf({ inventory: { hosts: all } }).map(({ where, hosts }) => [where, hosts])).toEqual([
      ['kubelet.config.featureGates', []],
      ['kubelet.extraArgs', []],
    ]);
    const some = [cp1, { ...w1, kubelet }, { ...w2, kubelet }];
    expect(placesOf({ inventory: { hosts: some } }).map(({ where, hosts }) => [where, hosts])).toEqual([
      ['kubelet.config.featureGates of w1, w2', ['w1', 'w2']],
      ['kubelet.extraArgs of w1, w2', ['w1', 'w2']],
    ]);
  });

  test("the kubelet's files on hosts, and names of flags in the administrator's file", () => {
    const places = placesOf({
      facts: {
        w1: { kubeletFlags: ['--pod-infra-container-image=pause:3.10', '--enable-load-reader'] },
        w2: {
          kubeletConfig: { featureGates: { A: true } },
          kubeletOverrides: [
            { file: '/etc/default/kubelet', variable: 'KUBELET_EXTRA_ARGS', flags: ['--boot-id-file'] },
          ],
        },
      },
    });
    expect(places.map(({ where, source }) => [where, source])).toEqual([
      ['/var/lib/kubelet/kubeadm-flags.env of w1', 'kubeadm-flags.env'],
      ['/var/lib/kubelet/config.yaml of w2', 'config.yaml'],
      ['KUBELET_EXTRA_ARGS in /etc/default/kubelet of w2', 'administrator'],
    ]);
    expect(places[0]!.flags).toEqual([
      { name: 'pod-infra-container-image', value: 'pause:3.10' },
      { name: 'enable-load-reader', value: '' },
    ]);
    expect(places[2]!.flags).toEqual([{ name: 'boot-id-file', value: '' }]);
  });

  test('a host that has not joined has no files of the kubelet', () => {
    expect(placesOf({ facts: { w1: { kubeletFlags: 'absent', kubeletConfig: 'absent' } } })).toEqual([]);
  });

  test('an unknown fact is an error, not an empty place', () => {
    const unknown = Object.defineProperty({ ...files }, 'kubeletFlags', {
      enumerable: true,
      get: () => {
        throw new FactError('w1', 'kubeletFlags', 'no answer');
      },
    });
    const seen = joinedHost(w1);
    Object.defineProperties(seen[1], Object.getOwnPropertyDescriptors(unknown));
    expect(() => settingsPlaces(inventoryOf(), fleetIn(clusterOf(), seen))).toThrow(FactError);
  });

  test('patches of kubeadm: gates of a kubelet, as a merge patch or as JSON patch operations', () => {
    const patches = {
      'kubeletconfiguration0+merge.yaml': 'featureGates:\n  A: true\n',
      'kubeletconfiguration1+json.yaml':
        '- {op: add, path: /featureGates/B, value: false}\n- {op: add, path: /featureGates, value: {C: true}}\n',
    };
    const places = placesOf({ inventory: { kubeadm: { ...noKubeadm, patches } } });
    expect(places.map(({ where, featureGates }) => [where, featureGates])).toEqual([
      ['kubeadm.patches.kubeletconfiguration0+merge.yaml', { A: true }],
      ['kubeadm.patches.kubeletconfiguration1+json.yaml', { B: false, C: true }],
    ]);
  });

  test('patches of kubeadm: flags of a static pod, in whichever field', () => {
    const content = '- op: add\n  path: /spec/containers/0/command/-\n  value: --feature-gates=A=true,B=false\n';
    const patches = { 'kube-scheduler+json.yaml': content, 'corednsdeployment.yaml': 'x: --y' };
    const places = placesOf({ inventory: { kubeadm: { ...noKubeadm, patches } } });
    expect(places.map(({ component, flags }) => [component, flags])).toEqual([
      ['kube-scheduler', [{ name: 'feature-gates', value: 'A=true,B=false' }]],
    ]);
  });
});
