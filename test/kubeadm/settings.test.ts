import { describe, expect, test } from 'vitest';
import { hostPatches } from '../../src/cluster/kubelet-config.ts';
import { settingsOf } from '../../src/cluster/settings.ts';
import { Refused } from '../../src/errors.ts';
import type { LinuxFacts } from '../../src/facts/linux.ts';
import type { Inventory, JsonObject } from '../../src/inventory/inventory.ts';
import { kubeletSettings } from '../../src/kubeadm/kubelet-settings.ts';
import { kubeadmPatches } from '../../src/kubeadm/patches.ts';
import { kubeadmSettings } from '../../src/kubeadm/settings.ts';
import { clusterOf, cp1, factsOf, fleetOf, inventoryOf, joinedControlPlane, targetOf, w1 } from '../fakes/cluster.ts';
import { recordingOn } from '../fakes/on.ts';

const before = inventoryOf();
const withCluster = (cluster: JsonObject): Inventory => inventoryOf({ kubeadm: { ...before.kubeadm, cluster } });

const due = (inventory: Inventory, settings: JsonObject | undefined) => {
  const cluster = clusterOf({ settings });
  return kubeadmSettings.diff({
    inventory,
    host: cp1,
    facts: cluster,
    fleet: fleetOf([[cp1, joinedControlPlane()]], cluster),
  });
};

describe('kubeadm settings of a live cluster', () => {
  test('that are as they were applied need nothing', () => {
    expect(due(before, settingsOf(before))).toEqual([]);
  });

  test('that were edited are applied by kubeadm’s phases and noted', async () => {
    const edited = withCluster({ apiServer: { extraArgs: [{ name: 'event-ttl', value: '2h' }] } });
    const [change] = due(edited, settingsOf(before));
    expect(change!.summary).toBe('apply the edited settings of kubeadm.cluster to the live cluster');
    const { on, sent } = recordingOn();
    await change!.apply!(on);
    expect(sent).toMatchObject([{ host: 'cp1', kind: 'job', name: 'kubeadm-settings' }]);
    expect((sent[0] as { readonly script: string }).script).toContain('PARTS=cluster\n');
  });

  test('that were removed are drift too', () => {
    const noted = settingsOf(withCluster({ scheduler: { extraArgs: [{ name: 'v', value: '4' }] } }));
    expect(due(before, noted)).toHaveLength(1);
  });

  test.each([
    ['kubeadm.cluster.encryptionAlgorithm', { encryptionAlgorithm: 'ECDSA-P256' }],
    ['kubeadm.cluster.apiServer.certSANs', { apiServer: { certSANs: ['x.example'] } }],
    ['kubeadm.cluster.etcd', { etcd: { local: { dataDir: '/data' } } }],
  ])('%s cannot be changed: refused', (name, cluster) => {
    expect(() => due(withCluster(cluster), settingsOf(before))).toThrow(Refused);
    expect(() => due(withCluster(cluster), settingsOf(before))).toThrow(name);
  });

  test('without a note are noted, not applied', () => {
    expect(due(before, undefined).map(({ summary }) => summary)).toEqual([
      'note the kubeadm settings of demo (found no note)',
    ]);
  });
});

describe('the kubelet of a joined host', () => {
  const shared = { cgroupDriver: 'systemd', syncFrequency: '0s', logging: { verbosity: 0 } };
  const live = { ...shared, containerRuntimeEndpoint: 'unix:///run/containerd/containerd.sock' };
  const own = { ...cp1, kubelet: { config: { maxPods: 50 }, extraArgs: [] } };
  const inventory = inventoryOf({ hosts: [own, w1] });

  const found = (facts: Partial<LinuxFacts>, of: Inventory = before) => {
    const cluster = clusterOf({ kubeletConfiguration: shared, settings: settingsOf(of) });
    const host = of.hosts[0] as typeof cp1;
    const all = joinedControlPlane({ kubeletConfig: live, kubeletFlags: ['--node-ip=10.0.0.11'], ...facts });
    return kubeletSettings.diff(targetOf(of, host, fleetOf([[host, all]], cluster))).map(({ summary }) => summary);
  };

  test('that runs with the cluster’s configuration and its own needs nothing', () => {
    expect(found({})).toEqual([]);
    expect(found({ kubeletConfig: { ...live, maxPods: 50 } }, inventory)).toEqual([]);
  });

  test.each([
    ['a setting of its own that is missing', {}, inventory, 'another maxPods'],
    ['a setting that it no longer has', { kubeletConfig: { ...live, maxPods: 50 } }, before, 'another maxPods'],
    ['another argument', { kubeletFlags: ['--node-ip=10.0.0.11', '--v=4'] }, before, 'other arguments'],
  ] as const)('%s', (_, facts, of, what) => {
    expect(found(facts, of)).toEqual([`configure and restart the kubelet of cp1 (found ${what})`]);
  });

  test('keeps the arguments that kubeadm wrote for itself', () => {
    expect(found({ kubeletFlags: ['--register-with-taints=a=b:NoSchedule', '--node-ip=10.0.0.11'] })).toEqual([]);
  });

  test('of a host that has not joined is kubeadm’s business', () => {
    const target = targetOf(before, cp1, fleetOf([[cp1, factsOf()]], clusterOf()));
    expect(kubeletSettings.diff(target)).toEqual([]);
  });
});

describe('patch files', () => {
  const inventory = inventoryOf({ hosts: [cp1, { ...w1, kubelet: { config: { maxPods: 50 }, extraArgs: [] } }] });
  const host = inventory.hosts[1] as typeof w1;
  const path = '/etc/kubernetes/patches/kubeletconfigurationzz-kbuild+merge.yaml';
  const of = (files: LinuxFacts['files'], who = host) =>
    kubeadmPatches.diff(targetOf(inventory, who, fleetOf([[who, factsOf({ files })]])));
  const file = { kind: 'file', sha256: '0'.repeat(64), mode: 0o644, owner: 'root:root', mtimeMs: 0 } as const;

  test('are written where a host has settings of its own', async () => {
    const [change] = of(new Map());
    expect(change!.summary).toBe(`write ${path} (found none)`);
    const { on, sent } = recordingOn();
    await change!.apply!(on);
    expect(sent).toMatchObject([{ kind: 'write', path, content: Object.values(hostPatches(inventory, host))[0] }]);
  });

  test('that nobody wants are removed: the folder is kbuild’s', () => {
    expect(of(new Map([[path, file]]), cp1).map(({ summary }) => summary)).toEqual([
      `remove ${path} (not in the inventory)`,
    ]);
    expect(of(new Map([[path, file]])).map(({ summary }) => summary)).toEqual([
      `write ${path} (found another content)`,
    ]);
  });
});
