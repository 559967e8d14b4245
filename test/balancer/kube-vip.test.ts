/** kube-vip as a static pod: who has which credentials, and what is left of it. test/lab/long/kube-vip.test.ts runs it. */
import { basename } from 'node:path';
import { describe, expect, test } from 'vitest';
import {
  kubeVip,
  kubeVipOfFounder,
  kubeVipPod,
  kubeVipStopped,
  noVirtualAddress,
} from '../../src/balancer/kube-vip.step.ts';
import { readersOf } from '../../src/certificates/authority-files.ts';
import { restartedBy } from '../../src/certificates/leaves.ts';
import type { Fleet } from '../../src/cluster/fleet/fleet.ts';
import type { LinuxFacts } from '../../src/cluster/fleet/linux.ts';
import { clean, remove, reset } from '../../src/commands/remove.phases.ts';
import type { Step, Target } from '../../src/engine/step.ts';
import type { LoadBalancer } from '../../src/inventory/control-plane.ts';
import type { LinuxHost } from '../../src/inventory/inventory.ts';
import { paths } from '../../src/paths.ts';
import {
  clusterOf,
  cp1,
  factsOf,
  fleetIn,
  fleetOf,
  hostOf,
  inventoryOf,
  joinedControlPlane,
  targetOf,
} from '../fakes/cluster.ts';
import { recordingOn } from '../fakes/on.ts';

const golden = (name: string): string => `../golden/${name}`;
const other: LoadBalancer = { kind: 'keepalived', address: '10.0.0.100', port: 8443, healthPort: 8404, routerId: 100 };

const vip = {
  kind: 'kube-vip',
  address: '10.0.0.100',
  port: 6443,
  image: 'ghcr.io/kube-vip/kube-vip:v1.0.1',
} as const;

test('kube-vip is super-admin until the founder has founded', async () => {
  await expect(kubeVipPod(vip, 'eth1', 'super-admin.conf')).toMatchFileSnapshot(golden('kube-vip-founder.yaml'));
  await expect(kubeVipPod(vip, 'eth1', 'admin.conf')).toMatchFileSnapshot(golden('kube-vip.yaml'));
});

describe('kube-vip’s pod', () => {
  const cps = [clusterOf().via, 'cp2'].map((name, i) =>
    hostOf({ name, role: 'control-plane', internalAddress: `10.0.0.1${String(i + 1)}` }),
  );
  const [first, second] = cps as [LinuxHost, LinuxHost];
  const seen = (loadBalancer: LoadBalancer, host: LinuxHost, fleet: Fleet) =>
    targetOf(inventoryOf({ loadBalancer, hosts: cps }), host, fleet);
  const eth = (address: string) => ({
    interfaces: [{ name: 'eth1', addresses: [address], mac: '', mtu: 1500 }],
    files: new Map([[paths.kubeVipManifest, { kind: 'absent' as const }]]),
  });
  const bare = fleetOf([first, factsOf(eth('10.0.0.11'))], [second, factsOf(eth('10.0.0.12'))]);
  const founded = fleetIn(
    clusterOf(),
    [first, joinedControlPlane(eth('10.0.0.11'))],
    [second, factsOf(eth('10.0.0.12'))],
  );
  /** Whose credentials the pod gets that a step writes; nothing where it writes none. */
  async function credentials(step: Step, at: Target): Promise<readonly string[]> {
    const { on, sent } = recordingOn();
    for (const { apply } of step.diff(at)) await apply?.(on);
    return sent.flatMap((one) => {
      if (one.kind !== 'write') return [];
      expect([one.host, one.path, one.mode]).toEqual([at.host.name, paths.kubeVipManifest, 0o600]);
      return [/path: "?(\S*\.conf)"?\n\s+type/.exec(one.content)?.[1] ?? 'none'].map((path) => basename(path, '"'));
    });
  }

  test('stands on the founder before kubeadm runs there, and is super-admin until then', async () => {
    expect(await credentials(kubeVipOfFounder, seen(vip, first, bare))).toEqual(['super-admin.conf']);
    expect(await credentials(kubeVipOfFounder, seen(vip, first, founded))).toEqual([]);
    expect(await credentials(kubeVip, seen(vip, first, founded))).toEqual(['admin.conf']);
  });

  test('comes to those that join with what every control plane has', async () => {
    expect(await credentials(kubeVipOfFounder, seen(vip, second, bare))).toEqual([]);
    expect(await credentials(kubeVipOfFounder, seen(vip, second, founded))).toEqual([]);
    expect(await credentials(kubeVip, seen(vip, second, founded))).toEqual(['admin.conf']);
  });

  test('is nowhere with another kind of load balancer', () => {
    expect([kubeVipOfFounder, kubeVip].flatMap((step) => step.diff(seen(other, first, bare)))).toEqual([]);
  });
});

describe('kube-vip of a host that leaves', () => {
  const inventory = inventoryOf({ loadBalancer: vip });
  const eth0 = (...addresses: readonly string[]): Partial<LinuxFacts> => ({
    interfaces: [{ name: 'eth0', addresses, mac: '', mtu: 1500 }],
  });
  const at = (facts: Partial<LinuxFacts>, of = inventory) => targetOf(of, cp1, fleetOf([cp1, factsOf(facts)]));
  const due = (step: Step, facts: Partial<LinuxFacts>, of = inventory) =>
    step.diff(at(facts, of)).map(({ summary }) => summary);
  const ours = { ownFiles: [paths.kubeVipManifest] };

  test('is stopped if kbuild wrote its manifest, and no other manifest is', () => {
    expect(due(kubeVipStopped('host'), ours)).toEqual([`stop kube-vip (found ${paths.kubeVipManifest})`]);
    expect(due(kubeVipStopped('host'), { ownFiles: [] })).toEqual([]);
    expect(due(kubeVipStopped('host'), ours, inventoryOf({ loadBalancer: other }))).toEqual([]);
  });

  test('is waited for only where another control plane takes the address over', async () => {
    for (const [leaves, takenOver] of [
      ['cluster', 'yes'],
      ['host', 'no'],
    ] as const) {
      const { on, sent } = recordingOn();
      await kubeVipStopped(leaves).diff(at(ours))[0]!.apply!(on);
      expect(sent.map((one) => (one.kind === 'run' ? one.script : ''))[0]).toContain(`TAKEN_OVER=${takenOver}\n`);
    }
  });

  test('left the address if it was killed: it is deleted when no kube-vip of kbuild can bring it back', () => {
    const left = eth0('10.0.0.11', '10.0.0.100');
    expect(due(noVirtualAddress, { ...left, ownFiles: [] })).toEqual([
      'delete the virtual address 10.0.0.100 that kube-vip left (found on eth0)',
    ]);
    expect(due(noVirtualAddress, { ...left, ...ours })).toEqual([]);
    expect(due(noVirtualAddress, { ...eth0('10.0.0.11'), ownFiles: [] })).toEqual([]);
    expect(due(noVirtualAddress, { ...left, ownFiles: [] }, inventoryOf({ loadBalancer: other }))).toEqual([]);
  });

  test('stops before kubeadm’s reset, which would kill it, and in a live cluster before its etcd member goes', () => {
    const names = (steps: readonly { readonly name: string }[]) => steps.map(({ name }) => name);
    const ofReset = names(reset(inventory, {}).find(({ name }) => name === 'reset-control-planes')!.steps);
    expect(ofReset.slice(2, 5)).toEqual(['kube-vip-stopped', 'kubeadm-reset', 'no-virtual-address']);
    const leaving = { name: 'cp1', internalAddress: cp1.internalAddress, role: 'control-plane', host: cp1 } as const;
    const phases = remove(inventory, { leaving: [leaving], drain: 'no', before: () => Promise.resolve() });
    const ofRemove = names(phases.find(({ name }) => name === 'remove')!.steps);
    const of = (name: string) => ofRemove.indexOf(name);
    expect(of('kube-vip-stopped')).toBe(of('etcd-member-removed') - 1);
    expect(of('kube-vip-stopped')).toBeGreaterThan(0);
    expect(names(clean)).not.toContain('kube-vip-stopped');
  });
});

test('kube-vip starts again with a renewed certificate and a renewed CA, which it reads only once', () => {
  const [with_, without] = [inventoryOf({ loadBalancer: vip }), inventoryOf()];
  expect(restartedBy(with_, ['apiserver', 'admin.conf'])).toEqual(['kube-vip']);
  expect(restartedBy(with_, ['apiserver', 'scheduler.conf'])).toEqual(['kube-scheduler']);
  expect(restartedBy(without, ['admin.conf'])).toEqual([]);
  expect(readersOf(with_, 'ca')).toContain('kube-vip');
  expect(readersOf(without, 'ca')).not.toContain('kube-vip');
  expect(readersOf(with_, 'etcd-ca')).not.toContain('kube-vip');
});
