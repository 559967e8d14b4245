import { describe, expect, test } from 'vitest';
import type { LinuxFacts } from '../../src/cluster/fleet/linux.ts';
import { etcdByDriver, etcdKubelet } from '../../src/etcd/kubelet.step.ts';
import { paths } from '../../src/paths.ts';
import { cp1, factsOf, fleetIn, hostOf, inventoryOf, joinedHost, targetOf } from '../fakes/cluster.ts';
import { recordingOn } from '../fakes/on.ts';

const etcd1 = hostOf({ name: 'etcd1', role: 'etcd', internalAddress: '10.0.0.31' });
const plain = inventoryOf({ etcd: { topology: 'built', endpoints: ['https://10.0.0.31:2379'] }, hosts: [etcd1, cp1] });
const inventory = { ...plain, runtime: { ...plain.runtime, cgroupDriver: 'cgroupfs' as const } };

const seen = (cgroupDriverInUse: LinuxFacts['cgroupDriverInUse'], runtime: 'systemd' | 'cgroupfs') => {
  const facts = factsOf({
    etcdToken: 'demo',
    kubernetesTraces: new Set([paths.etcdManifest, '/var/lib/etcd/member']),
    runtimeConfig: { cgroupDriver: runtime, sandboxImage: 'registry.k8s.io/pause:3.10.2', criDisabled: false },
    kubeletConfig: 'absent',
    cgroupDriverInUse,
  });
  const cluster = { state: 'absent', etcd: { state: 'absent' } } as const;
  return targetOf(inventory, etcd1, fleetIn(cluster, [etcd1, facts], joinedHost(cp1)));
};
const written = async (change: { readonly apply?: (on: ReturnType<typeof recordingOn>['on']) => Promise<void> }) => {
  const { on, sent } = recordingOn();
  await change.apply!(on);
  return sent;
};

describe('runtime.cgroupDriver edited: a host of role etcd', () => {
  const [config] = etcdKubelet;

  test('keeps the driver of its kubelet until its turn', async () => {
    const sent = await written(config!.diff(seen('systemd', 'systemd'))[0]!);
    expect(sent).toMatchObject([{ content: expect.stringContaining('cgroupDriver: "systemd"') as string }]);
  });

  test('then gets both, the file first, and restarts etcd', async () => {
    const changes = etcdByDriver.diff(seen('systemd', 'cgroupfs'));
    expect(changes.map(({ summary, disrupts }) => [summary, disrupts])).toEqual([
      ['configure the kubelet of etcd1 for the cgroup driver cgroupfs, and restart all pods there', true],
    ]);
    const sent = await written(changes[0]!);
    expect(sent.map(({ kind }) => kind)).toEqual(['write', 'job']);
    expect(sent[0]).toMatchObject({ content: expect.stringContaining('cgroupDriver: "cgroupfs"') as string });
    expect(JSON.stringify(sent[1])).toContain('systemctl stop kubelet');
  });

  test('goes on after a change that was cut off: it has no node on which a note would tell', () =>
    expect(etcdByDriver.diff(seen('mixed', 'cgroupfs'))).toHaveLength(1));

  test('has nothing to do when etcd runs by the driver, and while nothing runs', () => {
    expect(etcdByDriver.diff(seen('cgroupfs', 'cgroupfs'))).toEqual([]);
    expect(etcdByDriver.diff(seen('none', 'systemd'))).toEqual([]);
  });
});
