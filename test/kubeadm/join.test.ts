import { describe, expect, test } from 'vitest';
import { Refused } from '../../src/errors.ts';
import { jobEnded } from '../../src/host/idle.step.ts';
import { initOf } from '../../src/kubeadm/init.step.ts';
import { joinWorker } from '../../src/kubeadm/join.step.ts';
import { earlierMachineGone, noMarker } from '../../src/kubeadm/register-node.step.ts';
import { noLeftoverTokens } from '../../src/kubeadm/tokens.step.ts';
import { undoHalfFinished } from '../../src/kubeadm/undo.step.ts';
import {
  clusterOf,
  cp1,
  factsOf,
  fleetIn,
  fleetOf,
  freshHost,
  inventoryOf,
  joinedHost,
  joinedWorker,
  nodeOf,
  targetOf,
  w1,
} from '../fakes/cluster.ts';
import { recordingOn, type Sent } from '../fakes/on.ts';

const inventory = inventoryOf();
const noSnapshot = () => Promise.resolve();
const marker = { cluster: 'demo', action: 'join', job: 'x', stage: 'begun' } as const;
const TOKEN = 'abcdef.0123456789abcdef';
const CONTROL = joinedHost(cp1);
const live = clusterOf();
const withW1 = clusterOf({ nodes: [...live.nodes, nodeOf({ name: 'w1' })] });

describe('founding', () => {
  const empty = fleetOf(freshHost(cp1), freshHost(w1));

  test('is said before and done by one job whose configuration is a secret file', async () => {
    const [change, ...more] = initOf().diff(targetOf(inventory, cp1, empty));
    expect(more).toEqual([]);
    expect(change!.summary).toBe('create the cluster demo, Kubernetes 1.36.3, at k8s.example:6443 (found none)');
    const { on, sent } = recordingOn();
    await change!.apply!(on);
    expect(sent).toMatchObject([
      { host: 'cp1', kind: 'job', name: 'kubeadm-init', title: 'kubeadm/kubeadm-init-join.sh' },
    ]);
    const job = sent[0] as Extract<Sent, { readonly kind: 'job' }>;
    expect(Object.keys(job.files)).toEqual(['config.yaml']);
    expect(job.files['config.yaml']).toContain('kind: "ClusterConfiguration"');
    expect(job.script).toContain('MARKER=/var/lib/kbuild/marker.json');
  });

  test('needs nothing on a joined host', () => {
    expect(initOf().diff(targetOf(inventory, cp1, fleetIn(live, CONTROL)))).toEqual([]);
  });

  test('is refused where a control plane was not seen', () => {
    const cp0 = { ...cp1, name: 'cp0' };
    const two = inventoryOf({ hosts: [cp0, cp1] });
    expect(() => initOf().diff(targetOf(two, cp1, fleetOf(freshHost(cp1))))).toThrow(Refused);
  });
});

describe('joining', () => {
  const fleet = fleetIn(live, CONTROL, freshHost(w1));

  test('uses a token that is minted for it and deleted afterwards, and that no command holds', async () => {
    const [change] = joinWorker.diff(targetOf(inventory, w1, fleet));
    expect(change!.summary).toBe('join w1 to k8s.example:6443 as a worker');
    const { on, sent } = recordingOn({ run: ({ script }) => (script.includes('token create') ? `${TOKEN}\n` : '') });
    await change!.apply!(on);
    expect(sent.map(({ host, kind }) => `${host} ${kind}`)).toEqual(['cp1 reveal', 'w1 job', 'cp1 run']);
    const [mint, job, remove] = sent as readonly { readonly script: string; readonly files?: object }[];
    expect(mint!.script).toContain("--ttl 30m --description 'kbuild join w1'");
    expect(JSON.stringify(job!.files)).toContain(TOKEN);
    expect(sent.map((one) => ('script' in one ? one.script : '')).join('\n')).not.toContain(TOKEN);
    expect(remove!.script).toContain('delete secret --ignore-not-found bootstrap-token-abcdef');
  });

  test('deletes its token also when kubeadm fails', async () => {
    const [change] = joinWorker.diff(targetOf(inventory, w1, fleet));
    const { on, sent } = recordingOn({
      run: () => TOKEN,
      job: () => {
        throw new Error('kubeadm failed');
      },
    });
    await expect(change!.apply!(on)).rejects.toThrow('kubeadm failed');
    expect(sent.at(-1)).toMatchObject({ host: 'cp1', kind: 'run' });
  });

  test('removes a stale node of the same name first', async () => {
    const [change] = joinWorker.diff(targetOf(inventory, w1, fleetIn(withW1, CONTROL, freshHost(w1))));
    expect(change!.summary).toContain('(found a stale node of that name)');
    const { on, sent } = recordingOn({ run: () => TOKEN });
    await change!.apply!(on);
    expect(sent[0]).toMatchObject({ host: 'cp1', script: expect.stringContaining('delete node') as string });
  });

  test('is refused while the node of its name is Ready on another machine: that node is not deleted', () => {
    const away = clusterOf({ nodes: [...live.nodes, nodeOf({ name: 'w1', internalAddress: '10.0.0.99' })] });
    expect(() => joinWorker.diff(targetOf(inventory, w1, fleetIn(away, CONTROL, freshHost(w1))))).toThrow(
      'w1: refused: its node is Ready on another machine (10.0.0.99), and this host is 10.0.0.21',
    );
  });

  test('of a machine that was installed anew waits until its old node is not Ready', () => {
    const waits = (node: Partial<ReturnType<typeof nodeOf>>) => {
      const cluster = clusterOf({ nodes: [...live.nodes, nodeOf({ name: 'w1', machineId: 'aa', ...node })] });
      const fleet = fleetIn(cluster, CONTROL, freshHost(w1, { machineId: 'bb' }));
      return earlierMachineGone.diff(targetOf(inventory, w1, fleet));
    };
    expect(waits({})).toEqual([
      {
        summary:
          "wait until the earlier machine's node is not Ready (node w1 is Ready with machine-id aa, this host has bb)",
      },
    ]);
    expect(waits({ ready: false })).toEqual([]);
    expect(waits({ machineId: 'bb' })).toEqual([]);
    expect(waits({ machineId: '' })).toEqual([]);
  });

  test('needs nothing on a joined host', () => {
    const joined = fleetIn(withW1, CONTROL, joinedHost(w1));
    expect(joinWorker.diff(targetOf(inventory, w1, joined))).toEqual([]);
  });

  test('without a cluster is refused when it is done, not when it is planned', async () => {
    const [change] = joinWorker.diff(targetOf(inventory, w1, fleetOf(freshHost(w1))));
    await expect(change!.apply!(recordingOn().on)).rejects.toThrow(Refused);
  });
});

describe('what an interrupted run left', () => {
  test('a half-finished join is undone by kubeadm reset', async () => {
    const facts = joinedWorker({ marker });
    const [change] = undoHalfFinished(noSnapshot, noSnapshot).diff(
      targetOf(inventory, w1, fleetIn(live, CONTROL, [w1, facts])),
    );
    expect(change!.summary).toBe('undo a half-finished join of demo (found 2 leftovers)');
    const { on, sent } = recordingOn();
    await change!.apply!(on);
    expect(sent).toMatchObject([{ host: 'w1', kind: 'job', name: 'kubeadm-reset', title: 'kubeadm/kubeadm-reset.sh' }]);
  });

  test('a marker on a member is removed, and nothing is undone', () => {
    const target = targetOf(inventory, w1, fleetIn(withW1, CONTROL, joinedHost(w1, { marker })));
    expect(undoHalfFinished(noSnapshot, noSnapshot).diff(target)).toEqual([]);
    expect(noMarker.diff(target).map(({ summary }) => summary)).toEqual([
      'remove what a finished join left (found /var/lib/kbuild/marker.json)',
    ]);
  });

  test('kbuild waits for its job', () => {
    const facts = factsOf({ runningJob: 'kbuild-job-kubeadm-init-1-x.service' });
    const [change] = jobEnded.diff(targetOf(inventory, cp1, fleetOf([cp1, facts])));
    expect(change!.summary).toBe('wait for kbuild-job-kubeadm-init-1-x.service, which another run started');
    expect(change!.apply).toBeUndefined();
  });

  test('its tokens stay while a host may be joining with them', () => {
    const cluster = clusterOf({ leftoverTokens: ['abcdef'] });
    const seen = (facts: Parameters<typeof factsOf>[0]) =>
      noLeftoverTokens.diff({
        inventory,
        host: cp1,
        facts: cluster,
        fleet: fleetIn(cluster, CONTROL, freshHost(w1, facts)),
      });
    expect(seen({ runningJob: 'kbuild-job-kubeadm-join-1-x.service' })).toEqual([]);
    expect(seen({})).toHaveLength(1);
    const fleet = { ...fleetIn(cluster, CONTROL), unreachable: [{ host: w1, error: new Error('no answer') }] };
    expect(noLeftoverTokens.diff({ inventory, host: cp1, facts: cluster, fleet })).toEqual([]);
  });

  test('its tokens are deleted by their ids', async () => {
    const cluster = clusterOf({ leftoverTokens: ['abcdef', 'ghijkl'] });
    const target = { inventory, host: cp1, facts: cluster, fleet: fleetIn(cluster, CONTROL) };
    const [change] = noLeftoverTokens.diff(target);
    expect(change!.summary).toBe('delete 2 bootstrap tokens of an interrupted run (found abcdef, ghijkl)');
    const { on, sent } = recordingOn();
    await change!.apply!(on);
    expect(sent[0]).toMatchObject({
      script: expect.stringContaining('bootstrap-token-abcdef bootstrap-token-ghijkl') as string,
    });
  });
});
