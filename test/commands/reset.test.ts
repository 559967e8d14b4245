import { describe, expect, test } from 'vitest';
import type { Fleet } from '../../src/cluster/fleet/fleet.ts';
import type { LinuxFacts } from '../../src/cluster/fleet/linux.ts';
import type { NodeView } from '../../src/cluster/fleet/view.ts';
import { leavingOf } from '../../src/cluster/removal.ts';
import {
  leavingByReset,
  membersSeen,
  removalRefusals,
  resetRefusals,
  unnamedIn,
} from '../../src/cluster/remove.refusal.ts';
import { remove, reset } from '../../src/commands/remove.phases.ts';
import { plan } from '../../src/engine/plan.ts';
import { CommandError, FactError } from '../../src/errors.ts';
import { routes } from '../../src/host/network.facts.ts';
import {
  clusterOf,
  cp1,
  cp2,
  cp3,
  fleetIn,
  fleetOf,
  freshHost,
  inventoryOf,
  joinedControlPlane,
  joinedHost,
  joinedWorker,
  memberOf,
  nodeOf,
  nodesOf,
  OTHER_CA,
  w1,
} from '../fakes/cluster.ts';
import { calicoNetwork, noNetwork } from '../fakes/network.ts';
import { recordingOn } from '../fakes/on.ts';

const inventory = inventoryOf();
const held = { state: 'installed', version: '1.36.3-1.1', held: true } as const;
const used: Partial<LinuxFacts> = {
  leftovers: ['/etc/cni/net.d/10-flannel.conflist', 'mount /var/lib/kubelet/pods/x/volumes/y'],
  interfaces: ['eth0', 'cni0', 'flannel.1'].map((name) => ({ name, addresses: [], mac: '', mtu: 1500 })),
  kubeChains: ['KUBE-SERVICES'],
  binaries: new Map(),
  ownFiles: ['/etc/sysctl.d/99-zz-kbuild.conf', '/etc/containerd/config.toml.kbuild-backup'],
  distributedFiles: [],
  hostsBlock: '10.0.0.11 k8s.example',
  packages: new Map([['kubelet', held]]),
  osRelease: { id: 'debian', idLike: [], versionId: '12', codename: 'bookworm', prettyName: 'Debian 12' },
};
const clean: Partial<LinuxFacts> = { binaries: new Map(), ownFiles: [], distributedFiles: [], hostsBlock: 'absent' };
const live = clusterOf({ nodes: nodesOf(cp1, w1) });
const fleet = fleetIn(live, joinedHost(cp1, used), joinedHost(w1, used));

const planned = (options: Parameters<typeof reset>[1], of: Fleet = fleet) => {
  const { changes, errors } = plan(reset(inventory, options), inventory, of);
  expect(errors).toEqual([]);
  return changes;
};

describe('the whole cluster', () => {
  test('workers before control planes, nothing is drained', () => {
    const changes = planned({});
    expect([...new Set(changes.map(({ phase, host }) => `${phase} ${host}`))]).toEqual([
      'reset-workers w1',
      'reset-control-planes cp1',
    ]);
    expect(changes.filter(({ host }) => host === 'w1').map(({ summary }) => summary)).toEqual([
      'kubeadm reset on w1 (found /etc/kubernetes/kubelet.conf, /etc/kubernetes/pki/ca.crt, 1 more)',
      'remove what the network plugin left (found cni0, flannel.1, /etc/cni/net.d/10-flannel.conflist)',
      "remove Kubernetes' chains from the packet filter (found KUBE-SERVICES)",
      'unhold kubelet',
      'remove the files that kbuild wrote (found /etc/sysctl.d/99-zz-kbuild.conf, /etc/containerd/config.toml.kbuild-backup), restoring from /etc/containerd/config.toml.kbuild-backup',
      "take kbuild's lines out of /etc/hosts (found 10.0.0.11 k8s.example)",
    ]);
  });

  test('a second reset has nothing to do', () => {
    const gone = fleetOf(freshHost(cp1, clean), freshHost(w1, clean));
    expect(planned({}, gone)).toEqual([]);
  });

  test('of Calico the tunnel, the ends of pods and the routes to nowhere go, where it is kbuild’s', () => {
    const calico = inventoryOf({ network: calicoNetwork() });
    const left = {
      ...clean,
      leftovers: ['/etc/cni/net.d/10-calico.conflist', '/var/lib/calico'],
      interfaces: ['eth0', 'vxlan.calico', 'cali0123456789a', 'calibre'].map((name) => ({
        name,
        addresses: [],
      })) as never,
      routes: {
        table: [
          { destination: '10.244.1.64/26', device: '' },
          { destination: '192.0.2.0/24', device: '' },
          { destination: '10.244.2.0/26', device: 'eth0' },
        ],
        to: new Map(),
      },
    };
    const changes = plan(reset(calico, {}), calico, fleetOf(freshHost(w1, left))).changes;
    expect(changes.map(({ summary }) => summary)).toEqual([
      'remove what the network plugin left (found vxlan.calico, cali0123456789a, blackhole 10.244.1.64/26, 2 more)',
    ]);
  });

  test('a route to nowhere is known by its type: `ip` shows those of IPv6 at lo', () => {
    const { parse } = routes([], true);
    const shown = [
      'blackhole 10.244.1.64/26 proto 80 ',
      'blackhole fd00:10:244:81::/122 dev lo proto 80 metric 1024 pref medium',
      'unreachable fd00:7::/64 dev lo metric 1024 error -101 pref medium',
      'unicast fd00:8::/64 dev eth0 proto kernel metric 256 pref medium',
      'fd00:9::/64 dev eth0 proto kernel metric 256 pref medium',
    ];
    expect(parse(`${shown.join('\n')}\n---\n`, { middleMs: 0 }).table).toEqual([
      { destination: '10.244.1.64/26', device: '' },
      { destination: 'fd00:10:244:81::/122', device: '' },
      { destination: 'fd00:7::/64', device: '' },
      { destination: 'fd00:8::/64', device: 'eth0' },
      { destination: 'fd00:9::/64', device: 'eth0' },
    ]);
  });

  test('interfaces and files of a network that is the user’s stay', () => {
    const none = inventoryOf({ network: noNetwork });
    const changes = plan(reset(none, {}), none, fleet).changes;
    expect(changes.find(({ step }) => step === 'no-cni-remains')!.summary).not.toContain('cni0');
  });
});

const noSnapshot = () => Promise.resolve();

describe('one worker of a live cluster', () => {
  const leaving = (of: Fleet, drain: Parameters<typeof remove>[1]['drain']) => {
    const { changes, errors } = plan(
      remove(inventory, { leaving: leavingOf(inventory, of, ['w1']), drain, before: noSnapshot }),
      inventory,
      of,
    );
    expect(errors).toEqual([]);
    return changes;
  };

  test('is meant by reset --hosts', () => {
    expect(leavingByReset(inventory, fleet, ['w1'])).toEqual(['w1']);
    expect(leavingByReset(inventory, fleet, undefined)).toEqual([]);
  });

  test('is drained, cleaned, and forgotten last: its kubelet would register it again', () => {
    const steps = leaving(fleet, { timeoutMs: 60_000 }).map(({ host, step }) => `${host} ${step}`);
    expect(steps[0]).toBe('w1 drained');
    expect(steps.at(-1)).toBe('w1 node-deleted');
  });

  test('is drained on the acting control plane, as a job', async () => {
    const [drain] = leaving(fleet, { timeoutMs: 90_500 });
    const { on, sent } = recordingOn();
    await drain!.change.apply!(on);
    expect(sent).toMatchObject([
      { host: 'cp1', kind: 'job', name: 'drain', script: expect.stringContaining('SECONDS_TO_DRAIN=91\n') as string },
    ]);
  });

  test('whose kubelet does not report: its pods get their time to end, and no more, because cleaning ends them', async () => {
    const flag = '--skip-wait-for-delete-timeout=1';
    const scripts = async (status: string): Promise<string> => {
      const conditions = [{ type: 'Ready', status, reason: 'NodeStatusUnknown: Kubelet stopped posting node status.' }];
      const silent = nodeOf({ name: 'w1', ready: false, conditions });
      const nodes = [...clusterOf().nodes.filter(({ name }) => name !== 'w1'), silent];
      const [drain] = leaving({ ...fleet, cluster: { ...live, nodes } }, { timeoutMs: 90_500 });
      const { on, sent } = recordingOn();
      await drain!.change.apply!(on);
      return JSON.stringify(sent);
    };
    expect(await scripts('Unknown')).toContain(flag);
    expect(await scripts('False')).not.toContain(flag);
  });

  test('whose drain fails is the host that the error names, with what to do', async () => {
    const [drain] = leaving(fleet, { timeoutMs: 1000 });
    const { on, sent } = recordingOn({
      job: (_, { title, about }) => {
        throw new CommandError(about!, title, { status: 1, stdout: '', stderr: 'pods are still on w1' });
      },
    });
    const error: unknown = await drain!.change.apply!(on).catch((failure: unknown) => failure);
    expect(sent).toMatchObject([{ host: 'cp1' }]);
    expect(error).toMatchObject({ host: 'w1', message: 'w1: status 1: drain w1\npods are still on w1' });
    expect((error as CommandError).remedy).toContain('`kbuild remove w1 --no-drain`');
  });

  test('that was drained to the end is not drained again', () => {
    const drained = nodeOf({ name: 'w1', unschedulable: true, annotations: { 'kbuild.dev/drained': 'true' } });
    const after = { ...fleet, cluster: { ...live, nodes: [...clusterOf().nodes, drained] } };
    expect(leaving(after, { timeoutMs: 60_000 }).map(({ step }) => step)).not.toContain('drained');
  });

  test('that is gone is only forgotten', () => {
    const silent = { ...live, nodes: live.nodes.map((node) => ({ ...node, ready: node.name !== 'w1' })) };
    const without = { ...fleetIn(silent, joinedHost(cp1, used)) };
    expect(leaving(without, { timeoutMs: 60_000 }).map(({ host, step }) => `${host} ${step}`)).toEqual([
      'cp1 node-deleted-w1',
    ]);
  });
});

describe('leaving is refused', () => {
  const three = inventoryOf({ hosts: [cp1, cp2, cp3] });
  const member = (n: number, healthy = true) => ({
    id: String(n),
    name: `cp${String(n)}`,
    peerUrl: `https://10.0.0.1${String(n)}:2380`,
    learner: false,
    healthy,
    leader: n === 1,
    dbSize: 1,
  });
  const of = (members: ReturnType<typeof member>[]) =>
    fleetIn(
      clusterOf({ nodes: [1, 2, 3].map((n) => nodeOf({ name: `cp${String(n)}`, role: 'control-plane' })), members }),
      ...[cp1, cp2, cp3].map((host) => [host, joinedControlPlane()] as const),
    );
  const messages = (seen: Fleet, ...names: readonly string[]) =>
    removalRefusals(three, seen, leavingOf(three, seen, names)).map(({ message }) => message);
  const well = of([member(1), member(2), member(3)]);

  test('for all control planes, and with the arithmetic', () => {
    expect(messages(well, 'cp1', 'cp2', 'cp3')).toEqual([
      'cp1, cp2, cp3: refused: they are all control planes of demo',
      'cp3: refused: cp3 is the last voter',
    ]);
  });

  test('for a healthy one of three while another is down; not for the one that is down', () => {
    const limping = of([member(1), member(2), member(3, false)]);
    expect(messages(limping, 'cp2')).toEqual([
      'cp2: refused: 2 of 3 voters healthy, quorum 2; without cp2 1 of 2 would be healthy, quorum 2',
    ]);
    expect(messages(limping, 'cp3')).toEqual([]);
  });

  test('for the dead one of two', () => {
    expect(messages(of([member(1), member(2, false)]), 'cp2')).toEqual([
      'cp2: refused: etcd has no quorum: 1 of 2 voters healthy, quorum 2',
    ]);
  });

  test('not for any one of three that are well, the first and the leader included', () => {
    for (const name of ['cp1', 'cp2', 'cp3']) expect(messages(well, name)).toEqual([]);
    expect(messages(well, 'cp1', 'cp2')).toEqual([]);
  });

  test('for a name that no host or node has', () => {
    expect(() => messages(well, 'cp9')).toThrow(
      '"cp9" is neither a host of the inventory nor a node or etcd member of demo',
    );
  });
});

describe('refused', () => {
  const messages = (of: Fleet, request: Parameters<typeof resetRefusals>[2]) =>
    resetRefusals(inventory, of, request).map(({ message, exitCode }) => `${String(exitCode)} ${message}`);
  const foreign = fleetIn(live, joinedHost(cp1), joinedHost(w1, { caFingerprint: OTHER_CA }));

  test('a control plane alone, of a cluster that does not answer', () => {
    const down: Fleet = { ...fleet, cluster: { state: 'down', reason: 'no answer' } };
    expect(messages(down, { hosts: ['cp1'], confirmed: ['cp1'] })).toEqual([
      '7 cp1: refused: it is a control plane of a cluster that does not answer, and its etcd member may be needed',
    ]);
    expect(messages(down, { confirmed: ['demo'] })).toEqual([]);
  });

  test('a foreign host whose name was not typed', () => {
    expect(messages(foreign, { confirmed: ['demo'] })).toEqual([
      '7 w1: refused: it belongs to another cluster (CA sha256:bbbbbbbbbbbb…, demo has sha256:aaaaaaaaaaaa…)',
    ]);
    expect(messages(foreign, { hosts: ['w1'], confirmed: ['w1'] })).toEqual([]);
  });

  test('the whole cluster, when the one that answers has another name', () => {
    const prod = { ...fleet, cluster: { ...live, name: 'prod' } };
    expect(messages(prod, { confirmed: ['demo'] })).toEqual([
      '7 demo: refused: the cluster that answers on cp1 is called "prod", this inventory is "demo"',
    ]);
  });

  test('no remedy offers to destroy what runs there', () => {
    const alive = joinedWorker({
      caFingerprint: OTHER_CA,
      listeners: [{ protocol: 'tcp', port: 2379, address: '*', process: 'etcd' }],
    });
    const [refused] = resetRefusals(inventory, fleetIn(live, joinedHost(cp1), [w1, alive]), {
      confirmed: [],
    });
    expect(refused!.remedy).toBe(
      'a cluster may live there (a kubelet, etcd runs): find out which one before anything there is deleted',
    );
  });

  test('an empty host whose node is Ready on another machine, though its name was typed', () => {
    const elsewhere = clusterOf({
      nodes: [...clusterOf().nodes, nodeOf({ name: 'w1', internalAddress: '10.0.0.99' })],
    });
    const seen = fleetIn(elsewhere, joinedHost(cp1), freshHost(w1));
    expect(messages(seen, { hosts: ['w1'], confirmed: ['w1'] })).toEqual([
      '7 w1: refused: its node is Ready on another machine (10.0.0.99), and this host is 10.0.0.21',
    ]);
  });

  test('nothing of our own cluster', () => {
    expect(messages(fleet, { confirmed: ['demo'] })).toEqual([]);
    expect(messages(fleet, { hosts: ['w1'], confirmed: ['w1'] })).toEqual([]);
  });
});

describe('what the inventory does not name', () => {
  const others = [nodeOf({ name: 'w9' }), nodeOf({ name: 'cp9', role: 'control-plane', ready: false })];
  const more = { ...live, nodes: [...live.nodes, ...others], members: [memberOf(1), memberOf(9, { healthy: false })] };
  const refused = (cluster: typeof live, hosts?: readonly string[]) =>
    resetRefusals(inventory, { ...fleet, cluster }, { hosts, confirmed: ['demo', 'w1'] }).map(({ message }) => message);

  test('is named before the whole cluster is destroyed', () => {
    expect(unnamedIn(inventory, { ...fleet, cluster: more })).toEqual(['w9', 'cp9']);
    expect(unnamedIn(inventory, fleet)).toEqual([]);
  });

  test('is told by the nodes alone while the runtime hangs, so that a reset can mend it', () => {
    const hanging = Object.defineProperty({ ...live }, 'members', {
      get: () => {
        throw new FactError('cp1', 'etcd', 'no etcd container runs');
      },
    });
    const seen = { ...fleet, cluster: hanging };
    expect(refused(hanging)).toEqual([]);
    expect(unnamedIn(inventory, seen)).toEqual([]);
    expect(membersSeen(inventory, seen)).toBeUndefined();
  });

  test('is no control plane that lives: a reset would leave it without quorum', () => {
    expect(refused(more)).toEqual([]);
    const text = (why: string) =>
      `demo: refused: the inventory does not name cp9, and ${why}: a reset would leave it without the other members of etcd`;
    expect(refused({ ...more, members: [memberOf(1), memberOf(9)] })).toEqual([
      text('the etcd member of cp9 is healthy'),
    ]);
    const ready = { ...more, nodes: [...live.nodes, nodeOf({ name: 'cp9', role: 'control-plane' })] };
    expect(refused(ready)).toEqual([text('node cp9 is Ready')]);
    expect(refused(ready, ['w1'])).toEqual([]);
  });
});

describe('a node that SSH does not reach and that is Ready', () => {
  const old = nodeOf({ name: 'old-worker', internalAddress: '10.0.0.29' });
  const planFor = (node: NodeView, drain: Parameters<typeof remove>[1]['drain'] = { timeoutMs: 1000 }) => {
    const seen: Fleet = { ...fleet, cluster: { ...live, nodes: [...live.nodes, node] } };
    const leaving = leavingOf(inventory, seen, [node.name]);
    expect(removalRefusals(inventory, seen, leaving)).toEqual([]);
    const { changes, errors } = plan(
      remove(inventory, { leaving, drain, before: () => Promise.resolve() }),
      inventory,
      seen,
    );
    expect(errors).toEqual([]);
    return changes;
  };

  test('is drained through the API, and its budgets hold, before it is deleted', async () => {
    const changes = planFor(old);
    expect(changes.map(({ host, summary }) => `${host}: ${summary}`)).toEqual([
      'cp1: drain old-worker (found Ready)',
      'cp1: delete node old-worker from demo',
    ]);
    const { on, sent } = recordingOn();
    await changes[0]!.change.apply!(on);
    expect(sent).toEqual([
      expect.objectContaining({ host: 'cp1', kind: 'job', name: 'drain', title: 'drain old-worker' }),
    ]);
    expect(JSON.stringify(sent)).not.toContain('--disable-eviction');
  });

  test('is not drained with --no-drain, nor when it is not Ready', () => {
    const summaries = ['delete node old-worker from demo'];
    expect(planFor(old, 'no').map(({ summary }) => summary)).toEqual(summaries);
    expect(planFor({ ...old, ready: false }).map(({ summary }) => summary)).toEqual(summaries);
  });
});
