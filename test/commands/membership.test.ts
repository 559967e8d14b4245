import { describe, expect, test } from 'vitest';
import { up } from '../../src/commands/up.phases.ts';
import { plan } from '../../src/engine/plan.ts';
import type { Change } from '../../src/engine/step.ts';
import { joinControlPlane } from '../../src/kubeadm/join.step.ts';
import { forgotten, memberRemoved } from '../../src/kubeadm/leave-cluster.step.ts';
import { undoHalfFinished } from '../../src/kubeadm/undo.step.ts';
import {
  clusterOf,
  cp1,
  cp2,
  cp3,
  factsOf,
  fleetIn,
  inventoryOf,
  joinedControlPlane,
  memberOf,
  nodesOf,
  targetOf,
} from '../fakes/cluster.ts';
import { fleet } from '../fakes/fleet.ts';
import { recordingOn } from '../fakes/on.ts';

const controls = [cp1, cp2, cp3];
const inventory = inventoryOf({ hosts: controls });
const nodes = nodesOf(...controls);
const joined = joinedControlPlane();

describe('a snapshot comes first, and without one the members stay as they are', () => {
  const three = clusterOf({ nodes, members: [memberOf(1), memberOf(2), memberOf(3)] });
  const two = clusterOf({ nodes: nodes.slice(0, 2), members: [memberOf(1), memberOf(2)] });
  const learner = clusterOf({
    nodes: nodes.slice(0, 2),
    members: [memberOf(1), memberOf(2), memberOf(3, { learner: true })],
  });
  const marker = { cluster: 'demo', action: 'join', job: 'x', stage: 'begun' } as const;
  const half = joinedControlPlane({ marker, kubernetesTraces: new Set(['/etc/kubernetes/pki/ca.crt']) });
  const seen = (facts: typeof joined, cluster: typeof three) =>
    targetOf(inventory, cp3, fleetIn(cluster, [cp1, joined], [cp2, joined], [cp3, facts]));
  const gone = { inventory, host: cp1, facts: three, fleet: fleetIn(three, [cp1, joined], [cp2, joined]) };
  type Before = Parameters<typeof memberRemoved>[0];

  test.each<[string, string, (before: Before) => readonly Change[]]>([
    ['a control plane joins', 'before cp3 joined', (before) => joinControlPlane(before).diff(seen(factsOf(), two))],
    ['a member is removed', 'before cp3 was removed', (before) => memberRemoved(before).diff(seen(joined, three))],
    ['the member of a dead host is', 'before cp3 was removed', (before) => forgotten(cp3, 'no', before)[1]!.diff(gone)],
    [
      'a join is undone',
      'before cp3 was undone',
      (before) => undoHalfFinished(before, () => Promise.resolve()).diff(seen(half, learner)),
    ],
  ])('%s', async (_, reason, changesWith) => {
    const asked: string[] = [];
    const [change] = changesWith((_on, control, why) => {
      asked.push(`${control.name}: ${why}`);
      return Promise.reject(new Error('no snapshot'));
    });
    const { on, sent } = recordingOn();
    await expect(change!.apply!(on)).rejects.toThrow('no snapshot');
    expect(asked).toEqual([`cp1: ${reason}`]);
    expect(sent).toEqual([]);
  });
});

test('a member that does not answer is waited for: no run of up removes it', () => {
  const said = (healthy: 'healthy' | 'silent') => {
    const members = [memberOf(1), memberOf(2), memberOf(3, { healthy: healthy === 'healthy' })];
    const apiServers = new Map([
      ['cp1', 'ok'],
      ['cp2', 'ok'],
      ['cp3', healthy === 'healthy' ? 'ok' : 'timeout'],
    ]);
    const facts = Object.fromEntries(controls.map(({ name }) => [name, joined]));
    const all = fleet({ inventory, facts, cluster: clusterOf({ nodes, members, apiServers }) });
    const { changes, errors } = plan(up(inventory), inventory, all);
    expect(errors).toEqual([]);
    return changes.map(({ host, phase, summary, change: { apply } }) => ({
      host,
      phase,
      summary,
      acts: apply !== undefined,
    }));
  };
  const more = said('silent').filter((one) => !said('healthy').some(({ summary }) => summary === one.summary));
  expect(more).toEqual([
    {
      host: 'cp3',
      phase: 'verify',
      summary: 'wait until the control plane on cp3 serves (found API server: timeout; etcd is not healthy)',
      acts: false,
    },
  ]);
  expect(said('silent').filter(({ phase }) => ['init', 'control-planes', 'join'].includes(phase))).toEqual([]);
});
