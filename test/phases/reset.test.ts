import { describe, expect, test } from 'vitest';
import { resetRefusals } from '../../src/cluster/reset-refusals.ts';
import { plan } from '../../src/engine/plan.ts';
import type { Fleet } from '../../src/facts/fleet.ts';
import type { LinuxFacts } from '../../src/facts/linux.ts';
import { reset } from '../../src/phases/reset.ts';
import {
  clusterOf,
  cp1,
  factsOf,
  fleetOf,
  inventoryOf,
  joinedControlPlane,
  joinedWorker,
  nodeOf,
  OTHER_CA,
  w1,
} from '../fakes/cluster.ts';
import { recordingOn } from '../fakes/on.ts';

const inventory = inventoryOf();
const held = { state: 'installed', version: '1.36.3-1.1', held: true } as const;
const used: Partial<LinuxFacts> = {
  leftovers: ['/etc/cni/net.d/10-flannel.conflist', 'mount /var/lib/kubelet/pods/x/volumes/y'],
  interfaces: ['eth0', 'cni0', 'flannel.1'].map((name) => ({ name, addresses: [], mac: '', mtu: 1500 })),
  kubeChains: ['KUBE-SERVICES'],
  ownFiles: ['/etc/sysctl.d/99-zz-kbuild.conf', '/etc/containerd/config.toml.kbuild-backup'],
  hostsBlock: '10.0.0.11 k8s.example',
  packages: new Map([['kubelet', held]]),
  osRelease: { id: 'debian', versionId: '12', codename: 'bookworm', prettyName: 'Debian 12' },
};
const clean: Partial<LinuxFacts> = { ownFiles: [], hostsBlock: 'absent' };
const live = clusterOf({ nodes: [...clusterOf().nodes, nodeOf({ name: 'w1' })] });
const fleet = fleetOf([[cp1, joinedControlPlane(used)], [w1, joinedWorker(used)]], live); // prettier-ignore

const planned = (options: Parameters<typeof reset>[1], of: Fleet = fleet) => {
  const { changes, errors } = plan(reset(inventory, options), inventory, of);
  expect(errors).toEqual([]);
  return changes;
};

describe('the whole cluster', () => {
  test('workers before control planes, nothing is drained', () => {
    const changes = planned({ drain: 'no' });
    expect([...new Set(changes.map(({ phase, host }) => `${phase} ${host}`))]).toEqual([
      'reset-workers w1',
      'reset-control-planes cp1',
    ]);
    expect(changes.filter(({ host }) => host === 'w1').map(({ summary }) => summary)).toEqual([
      'kubeadm reset on w1 (found /etc/kubernetes/kubelet.conf, /etc/kubernetes/pki/ca.crt, 1 more)',
      'remove what the network plugin left (found cni0, flannel.1, /etc/cni/net.d/10-flannel.conflist)',
      "remove Kubernetes' chains from the packet filter (found KUBE-SERVICES)",
      'take back what kbuild wrote (found /etc/sysctl.d/99-zz-kbuild.conf, /etc/containerd/config.toml.kbuild-backup), restoring from /etc/containerd/config.toml.kbuild-backup',
      "take kbuild's lines out of /etc/hosts (found 10.0.0.11 k8s.example)",
      'let the system upgrade kubelet again (found held)',
    ]);
  });

  test('a second reset has nothing to do', () => {
    const gone = fleetOf([[cp1, factsOf(clean)], [w1, factsOf(clean)]]); // prettier-ignore
    expect(planned({ drain: 'no' }, gone)).toEqual([]);
  });

  test('interfaces and files of a network that is the user’s stay', () => {
    const none = inventoryOf({ network: { ...inventory.network, plugin: 'none' } });
    const changes = plan(reset(none, { drain: 'no' }), none, fleet).changes;
    expect(changes.find(({ step }) => step === 'no-cni-remains')!.summary).not.toContain('cni0');
  });
});

describe('one worker of a live cluster', () => {
  test('is drained, cleaned, and forgotten last: its kubelet would register it again', () => {
    const steps = planned({ hosts: ['w1'], drain: { timeoutMs: 60_000 } }).map(({ host, step }) => `${host} ${step}`);
    expect(steps[0]).toBe('w1 drained');
    expect(steps.at(-1)).toBe('w1 node-deleted');
  });

  test('is drained on the acting control plane, as a job', async () => {
    const [drain] = planned({ hosts: ['w1'], drain: { timeoutMs: 90_500 } });
    const { on, sent } = recordingOn();
    await drain!.change.apply!(on);
    expect(sent).toMatchObject([{ host: 'cp1', kind: 'job', name: 'drain', script: expect.stringContaining('SECONDS_TO_DRAIN=91\n') as string }]); // prettier-ignore
  });

  test('that was drained to the end is not drained again', () => {
    const drained = nodeOf({ name: 'w1', unschedulable: true, annotations: { 'kbuild.dev/drained': 'true' } });
    const after = { ...fleet, cluster: { ...live, nodes: [...clusterOf().nodes, drained] } };
    expect(planned({ hosts: ['w1'], drain: { timeoutMs: 60_000 } }, after).map(({ step }) => step)).not.toContain(
      'drained',
    );
  });
});

describe('refused', () => {
  const messages = (of: Fleet, request: Parameters<typeof resetRefusals>[2]) =>
    resetRefusals(inventory, of, request).map(({ message, exitCode }) => `${String(exitCode)} ${message}`);
  const foreign = fleetOf([[cp1, joinedControlPlane()], [w1, joinedWorker({ caFingerprint: OTHER_CA })]], live); // prettier-ignore

  test('a joined control plane alone', () => {
    expect(messages(fleet, { hosts: ['cp1'], confirmed: ['cp1'] })).toEqual([
      '7 cp1: refused: it is a control plane of the live cluster; removing one from it is not supported yet',
    ]);
  });

  test('a foreign host whose name was not typed', () => {
    expect(messages(foreign, { confirmed: ['demo'] })).toEqual([
      '7 w1: refused: it holds remnants of a cluster that kbuild does not know',
    ]);
    expect(messages(foreign, { hosts: ['w1'], confirmed: ['w1'] })).toEqual([]);
  });

  test('nothing of our own cluster', () => {
    expect(messages(fleet, { confirmed: ['demo'] })).toEqual([]);
    expect(messages(fleet, { hosts: ['w1'], confirmed: ['w1'] })).toEqual([]);
  });
});
