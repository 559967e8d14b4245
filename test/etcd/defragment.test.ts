import { describe, expect, test } from 'vitest';
import { Interrupted, NotConverged, Refused } from '../../src/errors.ts';
import { etcdToDefragment } from '../../src/etcd/defragment-health.step.ts';
import { defragment, membersToDefragment } from '../../src/etcd/defragment.step.ts';
import { cp1, cp2, hostOf, memberOf, spaceOf } from '../fakes/cluster.ts';
import { defragmentTools, fakeEtcd, type FakeEtcd } from '../fakes/etcd.ts';

const cp3 = hostOf({ name: 'cp3', role: 'control-plane', internalAddress: '10.0.0.13' });
const THREE = [cp1, cp2, cp3];
const three = (member: Parameters<typeof fakeEtcd>[1] = {}): FakeEtcd => fakeEtcd(['cp1', 'cp2', 'cp3'], member);
/** Full: 100 of 100 MiB, all of it old revisions but 20. */
const full = (names = ['cp1', 'cp2', 'cp3']): FakeEtcd => ({
  ...fakeEtcd(names, { inUse: 100, quota: 100 }),
  alarms: [1],
});

describe('defragmenting', () => {
  test('takes followers first and the leader last, one after another', async () => {
    const etcd = three();
    const { done, after } = await defragment(defragmentTools(etcd, THREE).tools, 'fragmented');
    expect(etcd.did).toEqual(['defragment cp2', 'defragment cp3', 'defragment cp1']);
    expect(done.size).toBe(3);
    expect(after.members.map(({ dbSize }) => dbSize / 1024 ** 2)).toEqual([20, 20, 20]);
  });

  test('observes anew who leads: a member that becomes leader meanwhile is the last', async () => {
    const etcd = three();
    etcd.onJob = () => (etcd.leader = 'cp3');
    await defragment(defragmentTools(etcd, THREE).tools, 'fragmented');
    expect(etcd.did).toEqual(['defragment cp2', 'defragment cp1', 'defragment cp3']);
  });

  test('leaves members with little to reclaim, unless all are wanted', async () => {
    const etcd = three();
    etcd.members[1]!.inUse = 95;
    await defragment(defragmentTools(etcd, THREE).tools, 'fragmented');
    expect(etcd.did).toEqual(['defragment cp3', 'defragment cp1']);
    const small = three({ inUse: 100 });
    await defragment(defragmentTools(small, THREE).tools, 'all');
    expect(small.did).toEqual(['defragment cp2', 'defragment cp3', 'defragment cp1']);
  });

  test('goes on with the next member only when the one before it is healthy again', async () => {
    const etcd = three();
    let waits = 0;
    etcd.onJob = (_, host) => {
      const [member] = etcd.members.filter(({ name }) => name === host);
      member!.healthy = host !== 'cp2';
    };
    const { tools, events } = defragmentTools(etcd, THREE);
    const { pause } = tools.waiting;
    const waiting = {
      ...tools.waiting,
      pause: (ms: number) => {
        waits += 1;
        if (waits === 5) etcd.members[1]!.healthy = true;
        return pause(ms);
      },
    };
    await defragment({ ...tools, waiting }, 'fragmented');
    expect(waits).toBe(5);
    expect(etcd.did).toEqual(['defragment cp2', 'defragment cp3', 'defragment cp1']);
    expect(events.filter(({ kind }) => kind === 'settling')).toMatchObject([
      { host: 'cp2', summary: expect.stringContaining('cp2 is not healthy') as string },
    ]);
  });

  test('ends, with the others as they are, when a member does not come back in time', async () => {
    const etcd = three();
    etcd.onJob = () => (etcd.members[1]!.healthy = false);
    await expect(defragment(defragmentTools(etcd, THREE).tools, 'fragmented')).rejects.toThrow(NotConverged);
    expect(etcd.did).toEqual(['defragment cp2']);
  });

  test('asks for the room that etcd needs for its copy, and for the host’s lock', async () => {
    const held: string[] = [];
    const { tools, sent } = defragmentTools(fakeEtcd(['cp1']), [cp1], {
      held: (host) => Promise.resolve(void held.push(host)),
    });
    await defragment(tools, 'fragmented');
    expect(held).toEqual(['cp1']);
    expect(sent()[0]).toContain(`FOLDER=/var/lib/etcd\nBYTES=${String(20 * 1024 ** 2)}\n`);
  });

  test('ends before the next member when the run is interrupted', async () => {
    const etcd = three();
    const stop = new AbortController();
    etcd.onJob = () => stop.abort(new Interrupted('Ctrl-C'));
    const { tools } = defragmentTools(etcd, THREE);
    const waiting = { ...tools.waiting, signal: stop.signal };
    await expect(defragment({ ...tools, waiting }, 'all')).rejects.toThrow(Interrupted);
    expect(etcd.did).toEqual(['defragment cp2']);
  });
});

describe('defragmenting is refused', () => {
  test.each([
    ['a member is down', (etcd: FakeEtcd) => (etcd.members[2]!.healthy = false), /cp3 is not healthy/],
    ['a member is a learner', (etcd: FakeEtcd) => (etcd.members[2]!.learner = true), /cp3 is still a learner/],
    ['the data of a member differs', (etcd: FakeEtcd) => (etcd.alarms = [1, 2]), /CORRUPT on 1/],
  ])('while %s', async (_, change, message) => {
    const etcd = three();
    change(etcd);
    const { tools } = defragmentTools(etcd, THREE);
    await expect(etcdToDefragment(tools)).rejects.toThrow(message);
    await expect(defragment(tools, 'all')).rejects.toThrow(Refused);
    expect(etcd.did).toEqual([]);
  });

  test('when no member answers, or one is on no host that was reached', async () => {
    const silent = three({ healthy: false });
    await expect(defragment(defragmentTools(silent, THREE).tools, 'all')).rejects.toThrow(
      /refused: .*no etcd container runs/s,
    );
    const etcd = three();
    await expect(defragment(defragmentTools(etcd, [cp1, cp2]).tools, 'all')).rejects.toThrow(
      'cp3: refused: it is a member of etcd, and no host of the inventory that kbuild reached',
    );
    expect(etcd.did).toEqual([]);
  });
});

describe('under the alarm NOSPACE', () => {
  test('etcd is compacted, every member defragmented, the leader last, and the alarm disarmed at the end', async () => {
    const etcd = full();
    const { before, after } = await defragment(defragmentTools(etcd, THREE).tools, 'fragmented');
    expect(etcd.did).toEqual(['compact cp1', 'defragment cp2', 'defragment cp3', 'defragment cp1', 'disarm cp1']);
    expect([before.alarms, after.alarms]).toEqual([['NOSPACE on 1'], []]);
  });

  test('the same command goes on after a kill: members that have room are left, and the alarm goes', async () => {
    for (const job of ['etcd-compact', 'etcd-defragment', 'etcd-disarm']) {
      const etcd = full();
      let isFirst = true;
      etcd.onJob = (name) => {
        if (name !== job || !isFirst) return;
        isFirst = false;
        throw new Interrupted('killed');
      };
      await expect(defragment(defragmentTools(etcd, THREE).tools, 'fragmented')).rejects.toThrow(Interrupted);
      await defragment(defragmentTools(etcd, THREE).tools, 'fragmented');
      expect(etcd.alarms).toEqual([]);
      expect(etcd.did.filter((did) => did.startsWith('defragment'))).toHaveLength(3);
    }
  });

  test('the alarm stays while a member has no room: the quota is to be raised, by its setting', async () => {
    const etcd = full();
    for (const member of etcd.members) member.compacted = 100;
    const ran = defragment(defragmentTools(etcd, THREE).tools, 'fragmented');
    await expect(ran).rejects.toThrow(
      /etcd takes no writes: cp1 has 100 MiB \(100 MiB in use\) of its quota of 100 MiB/,
    );
    await expect(ran).rejects.toMatchObject({
      exitCode: 5,
      remedy: expect.stringContaining('`quota-backend-bytes` in `kubeadm.cluster.etcd.local.extraArgs`') as string,
    });
    expect(etcd.alarms).toEqual([1]);
    expect(etcd.did.some((did) => did.startsWith('disarm'))).toBe(false);
  });

  test('a member that removed its old revisions late is defragmented again', async () => {
    const etcd = full(['cp1']);
    const [member] = etcd.members;
    member!.compacted = 100;
    let times = 0;
    etcd.onJob = (job) => {
      if (job === 'etcd-defragment' && ++times === 1) setTimeout(() => (member!.inUse = 20));
    };
    const { tools } = defragmentTools(etcd, [cp1]);
    const on: typeof tools.on = (host) => {
      const remote = tools.on(host);
      // The first defragmentation copies what is still in use.
      return { ...remote, run: async (command) => (await new Promise((go) => setTimeout(go)), remote.run(command)) };
    };
    await defragment({ ...tools, on }, 'fragmented');
    expect(etcd.did).toEqual(['compact cp1', 'defragment cp1', 'defragment cp1', 'disarm cp1']);
  });
});

describe('the plan', () => {
  const members = [memberOf(1, spaceOf(100, 20)), memberOf(2, spaceOf(100, 99)), memberOf(3, spaceOf(100, 20))];
  const names = (alarms: readonly string[], chosen: 'all' | 'fragmented'): readonly string[] =>
    membersToDefragment({ members, alarms }, chosen).map(({ name }) => name);

  test('names the members that have much to reclaim, the leader last; all of them if wanted, or under the alarm', () => {
    expect(names([], 'fragmented')).toEqual(['cp3', 'cp1']);
    expect(names([], 'all')).toEqual(['cp2', 'cp3', 'cp1']);
    expect(names(['NOSPACE on 1'], 'fragmented')).toEqual(['cp2', 'cp3', 'cp1']);
  });
});
