import { describe, expect, test } from 'vitest';
import type { ClusterUp, ClusterView } from '../../src/cluster/fleet/view.ts';
import { passControlPlaneGate, passRestartGate } from '../../src/cluster/restart-gate.ts';
import { NotSpared } from '../../src/errors.ts';
import type { LinuxHost } from '../../src/inventory/inventory.ts';
import { clusterOf, cp1, cp2, cp3, fleetIn, inventoryOf, joinedHost, nodesOf, w1 } from '../fakes/cluster.ts';
import { recordingOn } from '../fakes/on.ts';

const hosts = [cp1, cp2, cp3];
const inventory = inventoryOf({ hosts: [...hosts, w1] });
const all = (more: Partial<ClusterUp> = {}) =>
  clusterOf({ nodes: nodesOf(...hosts, w1), apiServers: new Map(hosts.map(({ name }) => [name, 'ok'])), ...more });

/** What the gate of a host sends to whom, when the scripts answer so. */
function gated(host: LinuxHost, cluster: ClusterView, answers: { readonly run?: string; readonly job?: string } = {}) {
  const { on, sent } = recordingOn({ run: () => answers.run ?? '', job: () => answers.job ?? '' });
  const fleet = fleetIn(cluster, ...[...hosts, w1].map((one) => joinedHost(one)));
  return { passed: passControlPlaneGate({ inventory, host, fleet }, on), sent };
}

test('asks through another control plane whose API server is ready', async () => {
  const { passed, sent } = gated(
    cp1,
    all({
      apiServers: new Map([
        ['cp1', 'ok'],
        ['cp2', 'no answer'],
        ['cp3', 'ok'],
      ]),
    }),
  );
  await passed;
  expect(sent).toMatchObject([{ host: 'cp3', kind: 'run', title: 'cluster/restart-gate.sh' }]);
  expect(sent[0]).toMatchObject({ script: expect.stringContaining('NODE=cp1\n') as string });
  expect(sent[0]).toMatchObject({
    script: expect.stringContaining(
      'cp1 https://10.0.0.11:6443\ncp2 https://10.0.0.12:6443\ncp3 https://10.0.0.13:6443',
    ) as string,
  });
});

test('waits as a job, which says what it waits for, and ends with what is missing', async () => {
  const { passed, sent } = gated(cp1, all(), {
    run: 'needed: kube-scheduler of cp2 ready (found: CrashLoopBackOff)\n',
    job: 'waiting: before cp1 restarts\nneeded: kube-scheduler of cp2 ready (found: Error)\n',
  });
  const error = (await passed.catch((thrown: unknown) => thrown)) as NotSpared;
  expect(error).toBeInstanceOf(NotSpared);
  expect(error.message).toBe(
    'cp1: not restarted, because the others could not do without it; still needed: kube-scheduler of cp2 ready (found: Error)',
  );
  expect(error.remedy).toContain('cp1 was left as it is');
  expect(sent.map(({ host, kind }) => `${host} ${kind}`)).toEqual(['cp2 run', 'cp2 job']);
});

test('goes on when the job has nothing to wait for any more', async () => {
  const { passed } = gated(cp1, all(), { run: 'needed: the lease kube-system/kube-scheduler renewed\n' });
  await expect(passed).resolves.toBeUndefined();
});

describe('asks nothing', () => {
  test.each<[string, LinuxHost, ClusterView]>([
    ['about the only control plane', cp1, clusterOf()],
    ['about a worker', w1, all()],
    ['without a cluster', cp1, { state: 'absent' }],
  ])('%s', async (_, host, cluster) => {
    const { passed, sent } = gated(host, cluster);
    await passed;
    expect(sent).toEqual([]);
  });
});

test('an API that does not answer is unknown, and nothing restarts', async () => {
  await expect(gated(cp1, { state: 'down', reason: 'refused' }).passed).rejects.toThrow('could not tell its state');
});

test('after a wait for the others, etcd is asked again', async () => {
  const member = { ID: 1, name: 'cp1', peerURLs: ['https://10.0.0.11:2380'], clientURLs: ['c1'] };
  const well = `members ${JSON.stringify({ members: [member] })}\nhealth [{"endpoint":"c1","health":true}]\nstatus []\nalarms {}\n`;
  const { on, sent } = recordingOn({
    run: ({ title }) => (title === 'cluster/restart-gate.sh' ? 'needed: the lease\n' : well),
  });
  const fleet = fleetIn(all(), ...hosts.map((one) => joinedHost(one)));
  await passRestartGate({ inventory, host: cp1, fleet }, on);
  expect(sent.map(({ kind }) => kind)).toEqual(['run', 'run', 'job', 'run']);
});

test('of a host that has etcd, etcd is asked first', async () => {
  const { on, sent } = recordingOn({
    run: () => 'members {"members":[]}\nhealth []\nstatus []\nalarms {"alarms":[{"memberID":1,"alarm":1}]}\n',
  });
  const fleet = fleetIn(all(), ...hosts.map((one) => joinedHost(one)));
  await expect(passRestartGate({ inventory, host: cp1, fleet }, on)).rejects.toThrow('etcd has an alarm: NOSPACE');
  expect(sent.map(({ kind }) => kind)).toEqual(['run', 'run']);
});
