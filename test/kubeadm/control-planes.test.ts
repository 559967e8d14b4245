import { describe, expect, test } from 'vitest';
import { withUploadedCertificates } from '../../src/certificates/shared-files.ts';
import type { ClusterView } from '../../src/cluster/fleet/view.ts';
import { Refused } from '../../src/errors.ts';
import type { MemberView } from '../../src/etcd/view.facts.ts';
import { initOf } from '../../src/kubeadm/init.step.ts';
import { controlPlaneServes, controlPlanesWell, joinControlPlane } from '../../src/kubeadm/join.step.ts';
import { noMarker } from '../../src/kubeadm/register-node.step.ts';
import { undoHalfFinished, undoMayBegin } from '../../src/kubeadm/undo.step.ts';
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
  nodeOf,
  nodesOf,
  podOf,
  targetOf,
  w1,
} from '../fakes/cluster.ts';
import { recordingOn } from '../fakes/on.ts';

const inventory = inventoryOf({ hosts: [cp1, cp2, cp3] });
const noSnapshot = () => Promise.resolve();
const member = (over: Partial<MemberView> & { readonly name: string; readonly peerUrl: string }): MemberView => ({
  id: over.name === '' ? 'f' : over.name.replace('cp', ''),
  learner: false,
  healthy: true,
  leader: false,
  dbSize: 1,
  ...over,
});
const m1 = member({ name: 'cp1', peerUrl: 'https://10.0.0.11:2380', leader: true });
const m2 = member({ name: 'cp2', peerUrl: 'https://10.0.0.12:2380' });
const controls = (...names: readonly string[]) => names.map((name) => nodeOf({ name, role: 'control-plane' }));
const CONTROL = joinedHost(cp1);
const summaries = (step: { readonly diff: (t: never) => readonly { readonly summary: string }[] }, t: unknown) =>
  step.diff(t as never).map(({ summary }) => summary);

describe('a further control plane', () => {
  const cluster = clusterOf({ nodes: controls('cp1'), members: [m1] });
  const target = targetOf(inventory, cp2, fleetIn(cluster, CONTROL, freshHost(cp2), freshHost(cp3)));

  test('joins; it does not found', () => {
    expect(initOf().diff(target)).toEqual([]);
    expect(summaries(controlPlanesWell, target)).toEqual([]);
    expect(summaries(joinControlPlane(noSnapshot), target)).toEqual([
      'join cp2 to k8s.example:6443 as a control plane',
    ]);
  });

  test('of a bare fleet is planned with the others, the founder is not', () => {
    const bare = fleetOf(freshHost(cp1), freshHost(cp2), freshHost(cp3));
    expect(summaries(joinControlPlane(noSnapshot), targetOf(inventory, cp1, bare))).toEqual([]);
    expect(summaries(joinControlPlane(noSnapshot), targetOf(inventory, cp3, bare))).toHaveLength(1);
  });

  test.each([
    [
      'a learner',
      { members: [m1, member({ name: '', peerUrl: 'https://10.0.0.13:2380', learner: true })] },
      'is still a learner',
    ],
    [
      'a member that is down',
      { members: [m1, m2, member({ name: 'cp3', peerUrl: 'https://10.0.0.13:2380', healthy: false })] },
      '1 of 2 voters healthy',
    ],
    [
      'an API server that is not ready',
      {
        nodes: controls('cp1', 'cp3'),
        apiServers: new Map([
          ['cp1', 'ok'],
          ['cp3', 'refused'],
        ]),
      },
      'the API server of cp3: refused',
    ],
    [
      'an API server that was not asked',
      { nodes: controls('cp1', 'cp9'), apiServers: new Map([['cp1', 'ok']]) },
      'the API server of cp9: not asked',
    ],
  ])('waits for %s', (_, over, why) => {
    const waiting = targetOf(inventory, cp2, fleetIn({ ...cluster, ...over }, CONTROL, freshHost(cp2)));
    expect(summaries(controlPlanesWell, waiting)).toEqual([expect.stringContaining(why)]);
    expect(controlPlanesWell.diff(waiting)[0]!.apply).toBeUndefined();
  });

  test('does not wait for an API server that cannot be: of a host that came back empty and left only its node', () => {
    const silent = {
      nodes: controls('cp1', 'cp3'),
      apiServers: new Map([
        ['cp1', 'ok'],
        ['cp3', 'refused'],
      ]),
    };
    const fleet = fleetIn({ ...cluster, ...silent }, CONTROL, freshHost(cp2), freshHost(cp3));
    expect(summaries(controlPlanesWell, targetOf(inventory, cp2, fleet))).toEqual([]);
  });

  test('that came back empty has its old member removed, unless that costs quorum', () => {
    const old = (...members: readonly MemberView[]) =>
      targetOf(inventory, cp2, fleetIn({ ...cluster, members }, CONTROL, freshHost(cp2)));
    const down = { ...m2, healthy: false };
    const m3 = member({ name: 'cp3', peerUrl: 'https://10.0.0.13:2380' });
    expect(summaries(joinControlPlane(noSnapshot), old(m1, down, m3))).toEqual([
      'join cp2 to k8s.example:6443 as a control plane (found its stale etcd member 2, which is removed first)',
    ]);
    expect(() => joinControlPlane(noSnapshot).diff(old(m1, down))).toThrow(/1 of 2 voters healthy, quorum 2/);
  });

  test('serves when its member votes and its API server is ready', () => {
    const two = (over: object) =>
      targetOf(
        inventory,
        cp2,
        fleetIn({ ...cluster, nodes: controls('cp1', 'cp2'), members: [m1, m2], ...over }, CONTROL, [
          cp2,
          joinedControlPlane(),
        ]),
      );
    expect(
      summaries(
        controlPlaneServes,
        two({
          apiServers: new Map([
            ['cp1', 'ok'],
            ['cp2', 'ok'],
          ]),
        }),
      ),
    ).toEqual([]);
    expect(summaries(controlPlaneServes, two({ members: [m1] }))).toEqual([
      'wait until the control plane on cp2 serves (found API server: no answer; no etcd member)',
    ]);
  });
});

describe('a half-finished join of a control plane', () => {
  const marker = { cluster: 'demo', action: 'join', job: 'x', stage: 'begun' } as const;
  const half = joinedControlPlane({
    marker,
    kubernetesTraces: new Set(['/etc/kubernetes/admin.conf', '/var/lib/etcd/member']),
  });
  const learner = { ...m2, learner: true };

  test('is undone with its learner', () => {
    const cluster = clusterOf({ nodes: controls('cp1'), members: [m1, learner] });
    const target = targetOf(inventory, cp2, fleetIn(cluster, CONTROL, [cp2, half]));
    expect(summaries(undoHalfFinished(noSnapshot, noSnapshot), target)).toEqual([
      'undo a half-finished join of demo (found 2 leftovers and its etcd learner 2)',
    ]);
  });

  test('is not touched while etcd does not answer: its member may be the one that quorum needs', async () => {
    const fleet = fleetIn({ state: 'down', reason: 'no answer' }, CONTROL, [cp2, half]);
    const target = targetOf(inventory, cp2, fleet);
    expect(summaries(undoMayBegin, target)).toHaveLength(1);
    const { on, sent } = recordingOn();
    await expect(undoHalfFinished(noSnapshot, noSnapshot).diff(target)[0]!.apply!(on)).rejects.toThrow(Refused);
    expect(sent).toEqual([]);
  });
});

describe('before a half-finished init is undone', () => {
  const half = joinedControlPlane({ marker: { cluster: 'demo', action: 'init', job: 'x', stage: 'begun' } });
  const target = targetOf(
    inventoryOf({ hosts: [cp1] }),
    cp1,
    fleetIn({ state: 'down', reason: 'refused' }, [cp1, half]),
  );

  test("etcd's data is kept, and without that nothing is touched", async () => {
    const { on, sent } = recordingOn();
    const kept: string[] = [];
    const keep = (_: unknown, host: { readonly name: string }) =>
      Promise.resolve(void kept.push(`${host.name} ${String(sent.length)}`));
    await undoHalfFinished(noSnapshot, keep).diff(target)[0]!.apply!(on);
    expect(kept).toEqual(['cp1 0']);
    expect(sent.map((one) => (one.kind === 'job' ? one.name : one.kind))).toEqual(['kubeadm-reset']);
    const other = recordingOn();
    const full = () => Promise.reject(new Error('no space left'));
    await expect(undoHalfFinished(noSnapshot, full).diff(target)[0]!.apply!(other.on)).rejects.toThrow('no space left');
    expect(other.sent).toEqual([]);
  });
});

describe('an init that was cut off between the kubelet’s certificate and the add-ons', () => {
  const late = joinedControlPlane({
    marker: { cluster: 'demo', action: 'init', job: 'x', stage: 'begun' },
    servedBefore: { olderThanMarker: [], kubeletFinalized: true },
  });
  const found = (state: ClusterView, facts = late, ...others: Parameters<typeof fleetIn>[1][]) => {
    const target = targetOf(inventoryOf(), cp1, fleetIn(state, [cp1, facts], ...others));
    return [undoMayBegin, undoHalfFinished(noSnapshot, noSnapshot), initOf()].map((step) => summaries(step, target));
  };
  const down = { state: 'down', reason: 'refused' } as const;

  test('waits for the API: a host that joined before would have it count as complete, without kube-proxy', () => {
    expect(found(down)).toEqual([
      ['wait before what is half-finished on cp1 is undone: the API tells whether the init on cp1 had ended (refused)'],
      [],
      [],
    ]);
  });

  test('is undone when the API shows that the add-ons are missing, and is left alone when they are there', () => {
    const alone = { nodes: nodesOf(cp1) };
    expect(found(clusterOf({ ...alone, pods: [] }))[1]).toEqual([expect.stringContaining('undo a half-finished init')]);
    const addons = ['kube-proxy', 'kube-dns'].map((app) => podOf({ name: app, labels: { 'k8s-app': app } }));
    expect(found(clusterOf({ ...alone, pods: addons })).slice(0, 2)).toEqual([[], []]);
  });

  test('is not waited for where a host has joined since, nor after the init has ended', () => {
    expect(found(down, late, [w1, joinedWorker()])[0]).toEqual([]);
    expect(found(down, { ...late, marker: 'absent' })[0]).toEqual([]);
  });
});

test('a worker whose join was cut is not undone while the API does not answer: its pods may run', () => {
  const facts = joinedWorker({ marker: { cluster: 'demo', action: 'join', job: 'x', stage: 'begun' } });
  const target = targetOf(inventoryOf(), w1, fleetIn({ state: 'down', reason: 'refused' }, CONTROL, [w1, facts]));
  expect(summaries(undoMayBegin, target)).toEqual([
    'wait before what is half-finished on w1 is undone: the API does not answer, and cp1 is joined to the cluster: refused',
  ]);
});

test('a marker of an unknown action stays on a member, and a known one while the API does not answer', () => {
  const on = (marker: object, state: ClusterView) =>
    summaries(
      noMarker,
      targetOf(
        inventoryOf(),
        cp1,
        fleetIn(state, [
          cp1,
          joinedControlPlane({ marker: { cluster: 'demo', action: 'init', job: 'x', stage: 'done', ...marker } }),
        ]),
      ),
    );
  const down = { state: 'down', reason: 'refused' } as const;
  expect(on({}, clusterOf())).toHaveLength(1);
  expect(on({}, down)).toEqual([]);
  expect(on({ action: 'upgrade' }, clusterOf())).toEqual([]);
});

test('a certificate key of digits alone stays a string, is in no command, and what was uploaded is deleted', async () => {
  const { on, sent } = recordingOn();
  const digits = '1234567890'.repeat(7).slice(0, 64);
  await expect(
    withUploadedCertificates(
      on(cp1),
      inventory,
      () => Promise.reject(new Error('join failed')),
      () => digits,
    ),
  ).rejects.toThrow('join failed');
  const [upload, removal] = sent;
  expect(upload).toMatchObject({ host: 'cp1', kind: 'job', name: 'upload-certs' });
  if (upload?.kind !== 'job') throw new Error();
  expect(upload.files['config.yaml']).toContain(`certificateKey: "${digits}"`);
  expect(upload.script).not.toContain(digits);
  expect(removal).toMatchObject({ host: 'cp1', kind: 'run', title: 'certificates/delete-uploaded-certs.sh' });
});
