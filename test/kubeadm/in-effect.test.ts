import { describe, expect, test } from 'vitest';
import type { LinuxFacts } from '../../src/cluster/fleet/linux.ts';
import type { LinuxHost } from '../../src/inventory/inventory.ts';
import { idleArguments, idleKubeletSettings } from '../../src/kubeadm/in-effect.ts';
import { sharedKubeletConfig } from '../../src/kubeadm/kubelet-config.ts';
import { kubeletObeys, kubeletSettings } from '../../src/kubeadm/kubelet.step.ts';
import { kubeadmSettings, rewritten } from '../../src/kubeadm/settings.step.ts';
import { settingsOf } from '../../src/kubeadm/settings.ts';
import type { JsonObject } from '../../src/shell/decode.ts';
import { clusterOf, cp1, fleetIn, inventoryOf, joinedHost, podOf, targetOf } from '../fakes/cluster.ts';

const base = inventoryOf();

describe('the settings of a running kubelet', () => {
  const idle = (
    config: JsonObject,
    live: JsonObject | undefined,
    extraArgs: LinuxHost['kubelet']['extraArgs'] = [],
  ) => {
    const host: LinuxHost = { ...cp1, kubelet: { config, extraArgs } };
    const inventory = inventoryOf({ hosts: [host] });
    const own = live === undefined ? [] : ([['cp1', { ...sharedKubeletConfig(base), ...live }]] as const);
    return idleKubeletSettings(inventory, host, clusterOf({ kubelets: new Map(own) })).map(({ key }) => key);
  };

  test.each<[string, JsonObject, JsonObject]>([
    ['the same value', { maxPods: 50 }, { maxPods: 50 }],
    ['a duration in its own form', { shutdownGracePeriod: '240s' }, { shutdownGracePeriod: '4m0s' }],
    ['a quantity in another unit', { containerLogMaxSize: '1024Ki' }, { containerLogMaxSize: '1Mi' }],
    ['a part of a map', { featureGates: { A: true } }, { featureGates: { A: true, B: false } }],
    ['false that Go leaves out', { enableServer: false }, {}],
    ['zero, which takes the default', { maxPods: 0, syncFrequency: '0s' }, { maxPods: 110, syncFrequency: '1m0s' }],
    ['the cgroup driver, which the runtime tells', { cgroupDriver: 'systemd' }, { cgroupDriver: 'cgroupfs' }],
  ])('agree where the kubelet has %s', (_, config, live) => {
    expect(idle(config, live)).toEqual([]);
  });

  test.each<[string, JsonObject, JsonObject]>([
    ['maxPods', { maxPods: 50 }, { maxPods: 110 }],
    ['maxPod', { maxPod: 50 }, { maxPods: 110 }],
    ['serializeImagePulls', { serializeImagePulls: true }, { serializeImagePulls: false }],
    ['clusterDNS', { clusterDNS: ['10.0.0.1'] }, { clusterDNS: ['10.0.0.1', '10.0.0.2'] }],
    ['evictionHard', { evictionHard: { 'memory.available': '200Mi' } }, {}],
  ])('are named where it runs without them: %s', (key, config, live) => {
    expect(idle(config, live)).toEqual([key]);
  });

  test('are not told of a kubelet that did not answer', () => {
    expect(idle({ maxPods: 50 }, undefined)).toEqual([]);
  });

  test('may be set by an argument of the inventory', () => {
    expect(idle({ maxPods: 50 }, { maxPods: 20 }, [{ name: 'max-pods', value: '20' }])).toEqual([]);
  });

  describe('that do not take effect are never "nothing to do"', () => {
    const host: LinuxHost = { ...cp1, kubelet: { config: { maxPods: 50 }, extraArgs: [] } };
    const inventory = inventoryOf({ hosts: [host] });
    const stored = sharedKubeletConfig(inventory);
    const due = (kubeletOverrides: LinuxFacts['kubeletOverrides'], live: JsonObject = { ...stored, maxPods: 20 }) => {
      const cluster = clusterOf({
        kubeletConfiguration: stored,
        settings: settingsOf(inventory),
        kubelets: new Map([['cp1', live]]),
      });
      const seen = joinedHost(host, { kubeletConfig: stored, kubeletFlags: ['--node-ip=10.0.0.11'], kubeletOverrides });
      const target = targetOf(inventory, host, fleetIn(cluster, seen));
      return [kubeletSettings, kubeletObeys].flatMap(({ diff }) => diff(target));
    };
    const wins = [{ file: '/etc/default/kubelet', variable: 'KUBELET_EXTRA_ARGS', flags: ['--max-pods'] }];

    test('the kubelet is configured and restarted', () => {
      expect(due([])).toMatchObject([
        {
          summary: 'configure and restart the kubelet of cp1 (found maxPods without effect: the kubelet runs with 20)',
          disrupts: true,
        },
      ]);
    });

    test('where a flag of the host wins, nothing is restarted: only the operator can remove it', () => {
      const [change, ...more] = due(wins);
      expect(change!.summary).toBe(
        'wait until the kubelet of cp1 obeys the inventory (found maxPods without effect: the kubelet runs with 20, ' +
          'because /etc/default/kubelet has --max-pods: remove it there)',
      );
      expect(change!.apply).toBeUndefined();
      expect(more).toEqual([]);
    });

    test('a flag of the host that agrees is no matter', () => {
      expect(due(wins, { ...stored, maxPods: 50 })).toEqual([]);
    });
  });
});

describe('the arguments of running static pods', () => {
  const profiling = { extraArgs: [{ name: 'profiling', value: 'false' }] };
  const inventory = inventoryOf({
    kubeadm: { ...base.kubeadm, cluster: { apiServer: profiling, etcd: { local: profiling } } },
  });
  const clusterWith = (...commands: readonly (readonly [string, readonly string[] | undefined])[]) =>
    clusterOf({
      settings: settingsOf(inventory),
      pods: commands.map(([component, command]) => podOf({ name: `${component}-cp1`, command })),
    });
  const due = (cluster: ReturnType<typeof clusterOf>, of = inventory) =>
    kubeadmSettings.diff({ inventory: of, host: cp1, facts: cluster, fleet: fleetIn(cluster, joinedHost(cp1)) });

  test('agree, or are not known', () => {
    expect(due(clusterWith(['kube-apiserver', ['kube-apiserver', '--profiling=false']], ['etcd', undefined]))).toEqual(
      [],
    );
    expect(due(clusterWith())).toEqual([]);
  });

  test('that are missing are written again by kubeadm', () => {
    const [change] = due(clusterWith(['kube-apiserver', ['kube-apiserver', '--profiling=true']]));
    expect(change).toMatchObject({
      summary:
        'apply the edited settings of kubeadm.cluster to the live cluster ' +
        '(found kube-apiserver of cp1 without --profiling)',
      disrupts: true,
    });
  });

  test('of etcd have its manifest written, too', () => {
    const cluster = clusterWith(['etcd', ['etcd', '--name=cp1']]);
    expect(idleArguments(inventory, cluster)).toEqual([{ host: 'cp1', component: 'etcd', flag: '--profiling' }]);
    const begun = { ...cluster, unfinished: ['cluster', 'etcd'] };
    expect(due(cluster)[0]?.restarts?.map(({ what }) => what)).toEqual(
      due(begun)[0]?.restarts?.map(({ what }) => what),
    );
    expect(rewritten(inventory, begun, ['cluster']).others).toContain('etcd');
  });

  test('are the patch’s business where one changes the component', () => {
    const patches = { 'kube-apiserver+merge.yaml': 'spec: {}', 'etcd.yaml': 'spec: {}' };
    const patched = { ...inventory, kubeadm: { ...inventory.kubeadm, patches } };
    expect(idleArguments(patched, clusterWith(['kube-apiserver', []], ['etcd', []]))).toEqual([]);
  });
});
