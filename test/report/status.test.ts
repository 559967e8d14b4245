import { describe, expect, test } from 'vitest';
import type { Fleet } from '../../src/cluster/fleet/fleet.ts';
import type { ClusterView } from '../../src/cluster/fleet/view.ts';
import { inTwoParts } from '../../src/commands/status.ts';
import { FactError } from '../../src/errors.ts';
import type { MemberView } from '../../src/etcd/view.facts.ts';
import { controlPlaneHosts, statusOf } from '../../src/report/status-view.ts';
import { statusText } from '../../src/report/status.ts';
import { certificateOf } from '../fakes/certificate.ts';
import {
  clusterOf,
  cp1,
  fleetIn,
  fleetOf,
  inventoryOf,
  joinedControlPlane,
  memberOf,
  nodeOf,
  OTHER_CA,
  podOf,
  spaceOf,
  w1,
} from '../fakes/cluster.ts';
import { faultsIn } from '../tools/documents.ts';

const NOW = Date.parse('2026-11-21T12:00:00Z');
const inventory = inventoryOf();
const facts = joinedControlPlane({
  nowMs: NOW,
  certificates: [certificateOf('apiserver', '2027-11-21T00:00:00.000Z')],
});
const nothing = { drift: [], trouble: [] };

const status = (cluster: ClusterView, fleet: Partial<Fleet> = {}) => {
  const made = statusOf(inventory, { ...fleetIn(cluster, [cp1, facts]), ...fleet }, nothing);
  expect(faultsIn('status', made)).toEqual([]);
  return made;
};
const messages = (cluster: ClusterView, fleet: Partial<Fleet> = {}): readonly string[] =>
  status(cluster, fleet).problems.map(({ kind, name, message }) => `${kind} ${name}: ${message}`);
const lastLine = (cluster: ClusterView, fleet: Partial<Fleet> = {}): string =>
  statusText(status(cluster, fleet), NOW).trimEnd().split('\n').at(-1)!;

const onHost = (host: string) => ({ host, name: 'kubelet', expires: '2027-11-21T00:00:00.000Z' });

describe('what is shown before the hosts have told the rest', () => {
  const nodes = [nodeOf({ name: 'cp1', role: 'control-plane' })];
  const whole = (cluster: ClusterView): string => statusText(status(cluster), NOW, controlPlaneHosts(inventory));
  const printed = (early: ClusterView, last: ClusterView): readonly string[] => {
    const texts: string[] = [];
    const { early: show, rest } = inTwoParts(NOW);
    show((text) => texts.push(text), inventory, { view: early, hosts: fleetIn(early, [cp1, facts]).hosts });
    return [...texts, rest(whole(last))];
  };

  test('is how the whole begins, which is printed once', () => {
    const cluster = clusterOf({ nodes });
    const [first, rest] = printed(cluster, cluster);
    expect(first).toMatch(
      /^demo: Kubernetes .*\n\nnodes\n(?:.*\n)+API servers: .*\n\netcd \(stacked\)(?:.*\n)+\ncertificates of the control plane that expire first\n.*\n  cp1 +apiserver .*\n$/,
    );
    expect(rest).toMatch(/^\nno drift/);
    expect(`${first!}${rest!}`).toBe(whole(cluster));
  });

  test('has the certificates of control planes, and the rest those of other hosts', () => {
    const text = statusText({ ...status(clusterOf({ nodes })), certificates: [onHost('w1'), onHost('cp1')] }, NOW, [
      'cp1',
    ]);
    expect(text).toMatch(
      /\ncertificates of the control plane that expire first\n.*\n {2}cp1 .*\n\ncertificates of other hosts that expire first\n.*\n {2}w1 /,
    );
  });

  test('is followed by the whole where another control plane tells something else', () => {
    const later = clusterOf({ nodes: [nodeOf({ name: 'cp1', role: 'control-plane', ready: false })] });
    expect(printed(clusterOf({ nodes }), later)[1]).toBe(`\n${whole(later)}`);
  });

  test('is nothing where no cluster answers', () => {
    const down = { state: 'down', reason: 'no answer' } as const;
    expect(printed(down, down)).toEqual([whole(down)]);
  });
});

describe('a cluster that answers', () => {
  test('is healthy when nothing is wrong with it', () => {
    expect(status(clusterOf())).toMatchObject({ healthy: true, problems: [], warnings: [] });
    expect(lastLine(clusterOf())).toBe('healthy');
  });

  test('shows what each host runs and has installed, where they differ', () => {
    const api = (version: string) =>
      podOf({
        name: 'api',
        labels: { component: 'kube-apiserver' },
        images: [`registry.k8s.io/kube-apiserver:v${version}`],
      });
    const nodes = [nodeOf({ name: 'cp1', role: 'control-plane' })];
    expect(statusText(status(clusterOf({ nodes, pods: [api('1.36.3')] })), NOW)).not.toContain('versions\n');
    expect(statusText(status(clusterOf({ nodes, pods: [api('1.37.1')] })), NOW)).toMatch(
      /^ {2}cp1 +1\.37\.1 +- +- +- +1\.36\.3 +- +1\.36\.3 +- +containerd:\/\/2\.2\.9$/m,
    );
  });

  test('is not healthy with a node under pressure, cordoned, with a taint of an unknown owner, or not Ready', () => {
    const condition = (type: string, state: string, reason: string) => ({ type, status: state, reason });
    const cluster = clusterOf({
      nodes: [
        nodeOf({ name: 'cp1', role: 'control-plane', conditions: [condition('DiskPressure', 'True', 'full')] }),
        nodeOf({
          name: 'w1',
          unschedulable: true,
          taints: [
            { key: 'node.kubernetes.io/unschedulable', effect: 'NoSchedule' },
            { key: 'dedicated', value: 'gpu', effect: 'NoExecute' },
          ],
        }),
        nodeOf({
          name: 'w2',
          ready: false,
          reason: 'NodeStatusUnknown',
          conditions: [
            condition('MemoryPressure', 'Unknown', 'NodeStatusUnknown'),
            condition('Ready', 'Unknown', 'NodeStatusUnknown'),
          ],
        }),
      ],
    });
    expect(messages(cluster)).toEqual([
      'node cp1: has the condition DiskPressure (full)',
      'node w1: is cordoned: no new pods are scheduled there',
      'node w1: has the taint dedicated=gpu:NoExecute, which neither the inventory nor Kubernetes explains',
      'node w2: is not Ready (NodeStatusUnknown)',
    ]);
    expect(statusText(status(cluster), NOW)).toMatch(/^ {2}cp1 +control-plane +yes, DiskPressure /m);
    expect(statusText(status(cluster), NOW)).toMatch(/^ {2}w1 +worker +yes, cordoned /m);
    expect(statusText(status(cluster), NOW)).toContain('    → when its maintenance is over: kubectl uncordon w1\n');
    expect(lastLine(cluster)).toBe('not healthy: 4 problems');
  });

  test('that kbuild has cordoned belongs to the run that did it, and the taint of an upgrade is no riddle', () => {
    const cluster = clusterOf({
      nodes: [
        nodeOf({
          name: 'w1',
          unschedulable: true,
          annotations: { 'kbuild.dev/cordoned': 'true' },
          taints: [{ key: 'kbuild.dev/old-version', effect: 'PreferNoSchedule' }],
        }),
      ],
    });
    expect(messages(cluster)).toEqual([
      'node w1: is cordoned by kbuild: no new pods are scheduled there until that run is through',
    ]);
    expect(statusText(status(cluster), NOW)).not.toContain('kubectl uncordon');
  });

  test('has taints of the inventory, of kubeadm and of Kubernetes without being unhealthy', () => {
    const wanted = { key: 'pool', value: 'db', effect: 'NoSchedule' } as const;
    const nodes = [
      nodeOf({ name: 'w1', taints: [wanted, { key: 'node.kubernetes.io/disk-pressure', effect: 'NoSchedule' }] }),
      nodeOf({ name: 'cp1', taints: [{ key: 'node-role.kubernetes.io/control-plane', effect: 'NoSchedule' }] }),
    ];
    const its = inventoryOf({ hosts: [cp1, { ...w1, taints: [wanted] }] });
    expect(statusOf(its, fleetIn(clusterOf({ nodes }), [cp1, facts]), nothing).problems).toEqual([]);
  });

  test('is not healthy with an API server, a member of etcd, an endpoint or a system pod that is not well', () => {
    const member = { id: '1', peerUrl: '', learner: false, dbSize: 0 };
    const cluster = clusterOf({
      endpoint: 'connection refused',
      apiServers: new Map([
        ['cp1', 'etcd failed'],
        // In the inventory, and not joined yet: drift.
        ['cp2', 'connection refused'],
      ]),
      members: [
        { ...member, name: 'cp1', healthy: true, leader: true },
        { ...member, name: 'cp3', healthy: false, leader: false },
      ],
      alarms: ['NOSPACE on 1'],
      pods: [podOf({ name: 'flannel-x', node: 'w1', trouble: 'CrashLoopBackOff' })],
    });
    expect(messages(cluster)).toEqual([
      'endpoint k8s.example:6443: the API does not serve there: connection refused',
      'api-server cp1: its API server is not ready: etcd failed',
      'etcd cp3: its etcd member is not healthy',
      'etcd demo: etcd has an alarm: NOSPACE on 1',
      'pod kube-system/flannel-x: on w1: CrashLoopBackOff',
    ]);
  });

  test('names the way to new data of a member, while the others have quorum', () => {
    const down = (...names: readonly string[]) =>
      [1, 2, 3].map((index) => {
        const one = memberOf(index);
        return { ...one, healthy: !names.includes(one.name) };
      });
    const remedies = (members: readonly MemberView[]) =>
      status(clusterOf({ members })).problems.map(({ remedy }) => remedy);
    expect(remedies(down('cp2'))).toEqual([
      'see its log on cp2: crictl ps -a --name etcd, then crictl logs ID. If its data is damaged or lost: `kbuild remove cp2`, then `kbuild up`',
    ]);
    expect(remedies(down('cp2', 'cp3'))[0]).toBe(
      'see its log on cp2: crictl ps -a --name etcd, then crictl logs ID. See https://example.com/kbuild/kbuild/blob/main/docs/operations.md#recover',
    );
  });

  test('names the command that makes room in etcd, under its alarm and before it', () => {
    const { problems } = status(clusterOf({ alarms: ['NOSPACE on 1'] }));
    expect(problems.map(({ remedy }) => remedy)).toEqual(['`kbuild etcd defragment`']);
    expect(status(clusterOf({ members: [memberOf(1, spaceOf(90, 20, 100))] })).warnings).toEqual([
      'etcd: cp1 has 90.0 MiB (20.0 MiB in use) of its quota of 100 MiB: when it is full, etcd takes no writes; `kbuild etcd defragment`',
    ]);
  });

  test('is healthy while an upgrade is under way, with a warning that names the versions', () => {
    const pods = [
      podOf({
        name: 'kube-apiserver-cp1',
        labels: { component: 'kube-apiserver' },
        images: ['registry.k8s.io/kube-apiserver:v1.36.3'],
      }),
    ];
    const { problems, warnings } = status(clusterOf({ version: '1.36.4', pods }));
    expect(problems).toEqual([]);
    expect(warnings).toEqual(['the API servers run different versions: 1.36.3 on cp1']);
  });

  test('is not taken for healthy where a fact could not be read', () => {
    const cluster = Object.defineProperty(clusterOf(), 'members', {
      get: () => {
        throw new FactError('cp1', 'etcd', 'no etcd container runs');
      },
    });
    expect(messages(cluster)).toEqual(['unknown cp1: cp1: could not tell etcd: no etcd container runs']);
    expect(status(cluster).etcd.members).toEqual([]);
  });
});

describe('certificates', () => {
  const expiring = (...certificates: readonly (readonly [string, string])[]) => ({
    hosts: fleetOf([
      cp1,
      joinedControlPlane({
        nowMs: NOW,
        certificates: certificates.map(([name, expires]) => certificateOf(name, expires)),
      }),
    ]).hosts,
  });

  test('that run out within 30 days are one line with how to renew them, and no problem', () => {
    const soon = expiring(['apiserver', '2026-12-01T00:00:00.000Z'], ['admin.conf', '2026-12-19T00:00:00.000Z']);
    const { warnings, healthy } = status(clusterOf(), soon);
    expect(warnings).toEqual([
      'certificates: apiserver expires in 9 days (2026-12-01) on cp1, and 1 more soon; `kbuild up` renews what kubeadm made; `kbuild certs renew` renews that and nothing else',
    ]);
    expect(healthy).toBe(true);
    expect(statusText(status(clusterOf(), soon), NOW)).toContain(`\n${warnings[0]!}\n`);
  });

  test('that have expired are a problem, also where no API answers', () => {
    const gone = expiring(['apiserver', '2026-11-20T00:00:00.000Z']);
    expect(messages({ state: 'down', reason: 'cp1: x509: certificate has expired' }, gone)).toEqual([
      'cluster demo: its API does not answer: cp1: x509: certificate has expired',
      'certificate cp1: its certificate apiserver expired on 2026-11-20',
    ]);
  });
});

describe('a cluster that does not answer', () => {
  test('whose control planes cannot be reached is not said to be absent', () => {
    const unreachable = { hosts: [], unreachable: [{ host: cp1, error: new Error('cp1: no answer') }] };
    expect(lastLine({ state: 'absent' }, unreachable)).toBe(
      'not healthy: demo: no control plane answers: cp1 cannot be reached',
    );
  });

  test('is down with the reason of its API servers in the last line', () => {
    expect(lastLine({ state: 'down', reason: 'cp1: its API server is not ready: etcd failed' })).toBe(
      'not healthy: demo: its API does not answer: cp1: its API server is not ready: etcd failed',
    );
  });

  test('is absent only where every control plane was asked', () => {
    expect(lastLine({ state: 'absent' })).toBe('not healthy: demo: there is no cluster on cp1');
    expect(status({ state: 'absent' })).toMatchObject({ healthy: false, version: '', nodes: [] });
  });
});

describe('addresses that another cluster has by now', () => {
  const shown = (cluster: ClusterView, own: typeof facts): string =>
    statusText(status(cluster, fleetIn(cluster, [cp1, own])), NOW);

  test('the cluster that answers has another name: not healthy, and the way on is named', () => {
    const prod = clusterOf({ name: 'prod', nodes: [nodeOf({ name: 'cp1', role: 'control-plane' })] });
    expect(messages(prod)).toContain(
      'cluster demo: the cluster that answers on cp1 is called "prod", this inventory is "demo"',
    );
    expect(shown(prod, facts)).toContain('use the inventory of "prod"');
  });

  test('a control plane holds another cluster, which does not answer: it is not said that there is none', () => {
    const prod = joinedControlPlane({
      nowMs: NOW,
      certificates: [],
      caFingerprint: OTHER_CA,
      kubeconfigCluster: { name: 'prod', server: 'https://prod.example:6443' },
    });
    const text = shown({ state: 'absent' }, prod);
    expect(text).toContain('it belongs to the cluster "prod", this inventory is "demo"');
    expect(text).not.toContain('there is no cluster');
    expect(text).not.toContain('kbuild up');
  });
});

test('a status through one control plane never says that there is no drift, and names the hosts it did not observe', () => {
  const made = { ...status(clusterOf()), notObserved: ['w1', 'w2'] };
  expect(faultsIn('status', made)).toEqual([]);
  const text = statusText(made, NOW);
  expect(text).toContain('drift was not looked for, and nothing on w1, w2 (--no-hosts)');
  expect(text).not.toContain('no drift');
  expect(statusText({ ...made, notObserved: [] }, NOW)).toContain('\ndrift was not looked for (--no-hosts)\n');
});
