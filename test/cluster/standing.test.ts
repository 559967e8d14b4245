import { describe, expect, test } from 'vitest';
import type { LinuxFacts } from '../../src/cluster/fleet/linux.ts';
import type { ClusterView } from '../../src/cluster/fleet/view.ts';
import { founder, standing } from '../../src/cluster/standing.ts';
import { FactError } from '../../src/errors.ts';
import {
  CA,
  clusterOf,
  cp1,
  factsOf,
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
  targetOf,
  w1,
} from '../fakes/cluster.ts';

const inventory = inventoryOf();
const down: ClusterView = { state: 'down', reason: 'connection refused' };
const both = clusterOf({ nodes: nodesOf(cp1, w1) });
const ourMarker = { cluster: 'demo', action: 'join', job: 'x', stage: 'begun' } as const;
const packages = new Map([['kubeadm', { state: 'installed' as const, version: '1.36.3-1.1', held: true }]]);
const halfInit = joinedControlPlane({ marker: { ...ourMarker, action: 'init' } });

describe('a worker', () => {
  const of = (facts: LinuxFacts, cluster: ClusterView, control = joinedControlPlane()) => {
    const fleet = fleetIn(cluster, [cp1, control], [w1, facts]);
    return standing(targetOf(inventory, w1, fleet));
  };

  test.each([
    ['empty', factsOf(), both, 'bare'],
    ['packages only', factsOf({ packages }), both, 'prepared'],
    ['a marker and nothing else', factsOf({ packages, marker: ourMarker }), both, 'prepared'],
    ['registered in our cluster', joinedWorker(), both, 'joined'],
    ['registered, with a marker left on it', joinedWorker({ marker: ourMarker }), both, 'joined'],
    ['our CA, the API is down', joinedWorker(), down, 'joined'],
    ['our CA and a marker, the API is down', joinedWorker({ marker: ourMarker }), down, 'partial'],
    ['not registered, with a marker', joinedWorker({ marker: ourMarker }), clusterOf(), 'partial'],
    ['not registered any more: its node was deleted', joinedWorker(), clusterOf(), 'joined'],
    [
      'a marker of another cluster',
      joinedWorker({ marker: { ...ourMarker, cluster: 'prod' } }),
      clusterOf(),
      'foreign',
    ],
    ['a marker that cannot be read', joinedWorker({ marker: 'unreadable' }), clusterOf(), 'foreign'],
    ['a corrupt marker on a member', joinedWorker({ marker: 'unreadable' }), both, 'joined'],
    ['another CA', joinedWorker({ caFingerprint: OTHER_CA }), both, 'foreign'],
    ['leftovers while there is no cluster', joinedWorker(), { state: 'absent' } as const, 'foreign'],
    [
      'a registered name, but the join was cut before the kubelet had its certificate',
      factsOf({ kubernetesTraces: new Set(['/etc/kubernetes/bootstrap-kubelet.conf']), marker: ourMarker }),
      both,
      'partial',
    ],
  ] as const)('%s', (_, facts, cluster, expected) => {
    const control = cluster.state === 'absent' ? factsOf() : joinedControlPlane();
    expect(of(facts, cluster, control)).toBe(expected);
  });
});

describe('a control plane', () => {
  const of = (facts: LinuxFacts, cluster: ClusterView) =>
    standing(targetOf(inventory, cp1, fleetIn(cluster, [cp1, facts])));

  test.each([
    ['complete', joinedControlPlane(), clusterOf(), 'joined'],
    ['another cluster name', joinedControlPlane({ kubeconfigCluster: { name: 'prod', server: '' } }), down, 'foreign'],
    ['complete, with a marker left on it', halfInit, clusterOf(), 'joined'],
    ['init cut before the add-ons', halfInit, clusterOf({ pods: [] }), 'partial'],
    ['init cut before the role was set', halfInit, clusterOf({ nodes: [nodeOf({ name: 'cp1' })] }), 'partial'],
    [
      'no add-ons, but others have joined: never undone',
      halfInit,
      clusterOf({ pods: [], nodes: both.nodes }),
      'joined',
    ],
    ['init cut before the API server answered', halfInit, down, 'partial'],
    ['not registered any more: its node was deleted', joinedControlPlane(), clusterOf({ nodes: [] }), 'joined'],
    ['the API is down', joinedControlPlane(), down, 'joined'],
    [
      'without its admin.conf: a healthy cluster is not foreign',
      joinedControlPlane({
        kubernetesTraces: new Set(['/etc/kubernetes/kubelet.conf', '/etc/kubernetes/manifests/kube-apiserver.yaml']),
      }),
      down,
      'joined',
    ],
    [
      'of another cluster, without its admin.conf: the other kubeconfigs tell its name',
      joinedControlPlane({
        kubernetesTraces: new Set(['/etc/kubernetes/kubelet.conf', '/etc/kubernetes/manifests/kube-apiserver.yaml']),
        kubeconfigCluster: { name: 'prod', server: '' },
      }),
      down,
      'foreign',
    ],
    [
      'the API is down for a moment, and the marker says that kubeadm has ended the init',
      joinedControlPlane({ marker: { ...ourMarker, action: 'init', stage: 'done' } }),
      down,
      'joined',
    ],
    [
      'the same while the API answers without add-ons',
      joinedControlPlane({ marker: { ...ourMarker, action: 'init', stage: 'done' } }),
      clusterOf({ pods: [] }),
      'joined',
    ],
    [
      'the API is down, and the init came as far as the certificate that the kubelet renews',
      joinedControlPlane({
        marker: { ...ourMarker, action: 'init' },
        servedBefore: { olderThanMarker: [], kubeletFinalized: true },
      }),
      down,
      'joined',
    ],
    [
      'the API answers, and the init was cut between that certificate and the add-ons',
      joinedControlPlane({
        marker: { ...ourMarker, action: 'init' },
        servedBefore: { olderThanMarker: [], kubeletFinalized: true },
      }),
      clusterOf({ pods: [] }),
      'partial',
    ],
    [
      'data of etcd that is older than the marker',
      joinedControlPlane({
        marker: { ...ourMarker, action: 'init' },
        servedBefore: { olderThanMarker: ['/var/lib/etcd/member'], kubeletFinalized: false },
      }),
      clusterOf({ pods: [] }),
      'joined',
    ],
    [
      'a marker of an action that this version does not know, the API is down',
      joinedControlPlane({ marker: { ...ourMarker, action: 'upgrade' } }),
      down,
      'joined',
    ],
    [
      'such a marker on what is not complete: never half-finished',
      factsOf({
        kubernetesTraces: new Set(['/etc/kubernetes/pki/ca.crt']),
        caFingerprint: CA,
        marker: { ...ourMarker, action: 'upgrade' },
      }),
      { state: 'absent' } as const,
      'foreign',
    ],
    [
      'init cut after the first certificate',
      factsOf({
        kubernetesTraces: new Set(['/etc/kubernetes/pki/ca.crt']),
        caFingerprint: CA,
        marker: { ...ourMarker, action: 'init' },
      }),
      { state: 'absent' } as const,
      'partial',
    ],
  ] as const)('%s', (_, facts, cluster, expected) => {
    expect(of(facts, cluster)).toBe(expected);
  });

  describe('whose join was interrupted', () => {
    const member = memberOf(1);
    const files = ['kube-apiserver', 'kube-controller-manager', 'kube-scheduler'].map(
      (name) => `/etc/kubernetes/manifests/${name}.yaml`,
    );
    const cut = (...more: readonly string[]) =>
      joinedControlPlane({
        marker: ourMarker,
        kubernetesTraces: new Set([...joinedControlPlane().kubernetesTraces, ...more]),
      });
    const withoutRole = { nodes: [nodeOf({ name: 'cp1' }), nodeOf({ name: 'cp2', role: 'control-plane' })] };

    test.each([
      ['its node is registered, and nothing else exists', cut(), clusterOf(withoutRole), 'partial'],
      ['it is no member of etcd yet', cut(...files), clusterOf(withoutRole), 'partial'],
      [
        'its member is a learner',
        cut(...files),
        clusterOf({ ...withoutRole, members: [{ ...member, learner: true }] }),
        'partial',
      ],
      [
        'its member votes: the missing role and taint are set later',
        cut(...files),
        clusterOf({ ...withoutRole, members: [member] }),
        'joined',
      ],
    ] as const)('%s', (_, facts, cluster, expected) => {
      expect(of(facts, cluster)).toBe(expected);
    });
  });

  test('is not half-finished if another host is joined to its CA and the API is down', () => {
    const of = (worker: LinuxFacts) => standing(targetOf(inventory, cp1, fleetIn(down, [cp1, halfInit], [w1, worker])));
    expect(of(joinedWorker())).toBe('joined');
    expect(of(factsOf())).toBe('partial');
    expect(of(joinedWorker({ caFingerprint: OTHER_CA }))).toBe('partial');
  });

  test('of an adopted cluster may have another name', () => {
    const adopting = inventoryOf({ kubernetes: { ...inventory.kubernetes, adopt: CA } });
    const facts = joinedControlPlane({ kubeconfigCluster: { name: 'kubernetes', server: '' } });
    const fleet = fleetIn(clusterOf({ name: 'kubernetes' }), [cp1, facts]);
    expect(standing(targetOf(adopting, cp1, fleet))).toBe('joined');
  });
});

test('an unknown fact throws', () => {
  const facts = Object.defineProperty(factsOf(), 'kubernetesTraces', {
    get: () => {
      throw new FactError('w1', 'kubernetesTraces', 'no answer');
    },
  });
  expect(() => standing(targetOf(inventory, w1, fleetOf([w1, facts])))).toThrow(FactError);
});

describe('the founder', () => {
  const name = (of: ReturnType<typeof founder>) => ('host' in of ? of.host.name : of.none);

  test.each([
    ['an empty fleet', fleetOf(freshHost(cp1), freshHost(w1)), 'cp1'],
    ['a control plane that was not seen', fleetOf(freshHost(w1)), 'cp1 was not observed, and may hold the cluster'],
    ['a live cluster', fleetIn(clusterOf(), joinedHost(cp1)), 'there is a cluster'],
    ['a cluster that is down', fleetIn(down, joinedHost(cp1)), 'there is a cluster'],
    ['a half-finished init of ours', fleetIn(down, [cp1, halfInit]), 'cp1'],
    [
      'leftovers of unknown origin',
      fleetOf(freshHost(cp1, { kubernetesTraces: new Set(['/var/lib/etcd/member']) })),
      'cp1 holds a cluster (foreign)',
    ],
  ])('%s', (_, fleet, expected) => {
    expect(name(founder(inventory, fleet))).toBe(expected);
  });
});
