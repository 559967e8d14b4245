import { describe, expect, test } from 'vitest';
import { virtualAddress } from '../../src/balancer/endpoint.check.ts';
import type { LinuxFacts } from '../../src/cluster/fleet/linux.ts';
import type { ClusterUp } from '../../src/cluster/fleet/view.ts';
import { hasReturned } from '../../src/cluster/nodes.ts';
import { refusals } from '../../src/cluster/up.refusal.ts';
import { remove, reset } from '../../src/commands/remove.phases.ts';
import { paths } from '../../src/paths.ts';
import {
  clusterOf,
  cp1,
  cp2,
  fleetIn,
  inventoryOf,
  joinedControlPlane,
  memberOf,
  nodeOf,
  targetOf,
} from '../fakes/cluster.ts';

const VIP = '10.0.0.100';
const inventory = inventoryOf({
  hosts: [cp1, cp2],
  endpoint: `${VIP}:8443`,
  loadBalancer: { kind: 'keepalived', address: VIP, port: 8443, healthPort: 8404, routerId: 100 },
});
const node = (name: string) => nodeOf({ name, role: 'control-plane' });
/** cp2 alone is left: cp1 was removed as dead. */
const without = clusterOf({
  via: 'cp2',
  configuration: { ...clusterOf().configuration, controlPlaneEndpoint: `${VIP}:8443` },
  nodes: [node('cp2')],
  members: [memberOf(2, { leader: true })],
  apiServers: new Map([['cp2', 'ok']]),
});
const serving = {
  load: 'loaded',
  active: 'active',
  enabled: 'enabled',
  startedMs: 1,
  needsDaemonReload: false,
} as const;
const balancing = (own: string): LinuxFacts =>
  joinedControlPlane({
    interfaces: [{ name: 'eth0', addresses: [own, VIP], mac: '', mtu: 1500 }],
    services: new Map([
      ['haproxy', serving],
      ['keepalived', serving],
    ]),
    ownFiles: [paths.haproxyConfig, paths.keepalivedConfig],
    listeners: [],
    machineId: own,
  });
const fleet = (cluster: ClusterUp) => fleetIn(cluster, [cp1, balancing('10.0.0.11')], [cp2, balancing('10.0.0.12')]);
const returned = fleet(without);
const whole = fleet({
  ...without,
  nodes: [node('cp1'), node('cp2')],
  members: [memberOf(1), memberOf(2, { leader: true })],
});
const deletedNode = fleet({ ...without, members: [memberOf(1), memberOf(2, { leader: true })] });

describe('a control plane that was removed as dead and boots again', () => {
  test('has returned if its node and its etcd member are gone, not if only its node was deleted', () => {
    const facts = balancing('10.0.0.11');
    expect(hasReturned(inventory, returned, cp1, facts)).toBe(true);
    expect(hasReturned(inventory, whole, cp1, facts)).toBe(false);
    expect(hasReturned(inventory, deletedNode, cp1, facts)).toBe(false);
  });

  test('is refused by `up`, which names the command that cleans it', () => {
    const found = refusals(inventory, returned).map(({ message, remedy }) => `${message} → ${remedy ?? ''}`);
    expect(found).toEqual([
      'cp1: refused: it was removed from the cluster and came back with what it had: its node and its etcd member are gone → `kbuild reset --hosts cp1` cleans it, keepalived and haproxy first; then `kbuild up` joins it again',
    ]);
  });

  test('is named as the holder that must give up the virtual address', () => {
    const found = virtualAddress.test({ inventory, fleet: returned });
    expect(found.map(({ host, severity, message, remedy }) => [host, severity, message, remedy])).toEqual([
      [
        'cp1',
        'warning',
        `holds the virtual address ${VIP}, and so does cp2: it was removed from the cluster, and came back`,
        '`kbuild reset --hosts cp1` stops keepalived first and cleans the host; at once: `systemctl stop keepalived` on cp1',
      ],
    ]);
  });

  test('is told apart from keepalived where kube-vip holds the address', () => {
    const byKubeVip = {
      ...inventory,
      loadBalancer: { kind: 'kube-vip', address: VIP, port: 6443, image: 'i' } as const,
    };
    expect(virtualAddress.test({ inventory: byKubeVip, fleet: returned }).map(({ remedy }) => remedy)).toEqual([
      '`kbuild reset --hosts cp1` stops kube-vip first and cleans the host; at once: `mv /etc/kubernetes/manifests/kube-vip.yaml /root/` on cp1',
    ]);
    expect(refusals(byKubeVip, returned).map(({ remedy }) => remedy)).toEqual([
      '`kbuild reset --hosts cp1` cleans it, kube-vip first; then `kbuild up` joins it again',
    ]);
  });

  test('is not blamed if two members hold the address, because a firewall drops their VRRP', () => {
    const found = virtualAddress.test({ inventory, fleet: whole });
    expect(found.map(({ host }) => host)).toEqual(['cp1', 'cp2']);
    expect(found[0]!.remedy).toContain('VRRP (IP protocol 112)');
  });

  test('loses keepalived and haproxy before any other step of reset', () => {
    const [phase] = reset(inventory, { hosts: ['cp1'] });
    const due = (of: typeof returned) =>
      phase!.steps.flatMap((step) =>
        ['job-ended', 'stray-balancer', 'kubeadm-reset', 'no-load-balancer'].includes(step.name)
          ? (step as { diff: (target: object) => readonly { summary: string }[] })
              .diff(targetOf(inventory, cp1, of))
              .map(({ summary }) => summary.split(' (')[0])
          : [],
      );
    expect(due(returned)).toEqual(['stop and disable keepalived and haproxy', 'kubeadm reset on cp1']);
    // kubeadm's reset of a member may need the address.
    expect(due(whole)).toEqual(['kubeadm reset on cp1', 'stop and disable keepalived and haproxy']);
    const leaving = [{ name: 'cp1', internalAddress: '10.0.0.11', role: 'control-plane' as const, host: cp1 }];
    const names = remove(inventory, { leaving, drain: 'no', before: () => Promise.resolve() })
      .find(({ name }) => name === 'remove')!
      .steps.map(({ name }) => name);
    expect(names.slice(0, 2)).toEqual(['job-ended', 'stray-balancer']);
  });
});
