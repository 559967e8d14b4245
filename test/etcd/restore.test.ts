import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { ClusterView } from '../../src/cluster/fleet/view.ts';
import { refusals } from '../../src/cluster/up.refusal.ts';
import { restorePhases } from '../../src/commands/restore.phases.ts';
import { plan } from '../../src/engine/plan.ts';
import type { Step } from '../../src/engine/step.ts';
import {
  livingHosts,
  livingHostsRefusal,
  membersInData,
  type OtherMember,
  otherMembers,
  otherMembersRefusal,
} from '../../src/etcd/restore-members.ts';
import {
  begunRestore,
  type Restore,
  restoredMemberId,
  restoreIdOf,
  takeBack,
} from '../../src/etcd/restore-stage.step.ts';
import type { MemberView } from '../../src/etcd/view.facts.ts';
import { type Marker, markerAway, markerOf } from '../../src/kubeadm/marker.facts.ts';
import { noMarker } from '../../src/kubeadm/register-node.step.ts';
import {
  clusterOf,
  cp1,
  cp2,
  cp3,
  fleetIn,
  inventoryOf,
  joinedControlPlane,
  joinedHost,
  nodeOf,
  targetOf,
} from '../fakes/cluster.ts';
import { recordingOn } from '../fakes/on.ts';

const inventory = inventoryOf({ hosts: [cp1, cp2] });
const restore: Restore = {
  inventory,
  controls: [cp1, cp2],
  members: [cp1, cp2],
  snapshot: '/tmp/x.db',
  id: 'run1-abc',
};
const down: ClusterView = { state: 'down', reason: 'refused' };
const marker = (stage: string, about = restore.id): Marker => ({
  cluster: 'demo',
  action: 'restore',
  job: 'x',
  stage,
  about,
});
const seen = (one: Marker | 'absent', other: Marker | 'absent', cluster: ClusterView = down) =>
  fleetIn(cluster, joinedHost(cp1, { marker: one, etcdFolder: '/data/etcd' }), joinedHost(cp2, { marker: other }));
const due = (...fleet: Parameters<typeof seen>) =>
  plan(restorePhases(restore), inventory, seen(...fleet)).changes.map(({ phase, host }) => `${phase} ${host}`);
const member = (name: string, over: Partial<MemberView> = {}): MemberView => ({
  id: '1',
  name,
  peerUrl: 'https://10.0.0.9:2380',
  learner: false,
  healthy: true,
  leader: false,
  dbSize: 1,
  ...over,
});

describe('a restore', () => {
  const ALL = ['prepare', 'stop', 'swap', 'start', 'serves', 'end', 'forget'];
  const both = (...phases: readonly string[]) =>
    phases.flatMap((name) => [`restore-${name} cp1`, `restore-${name} cp2`]);

  test('makes the data everywhere before anything stops, and stops everything before anything is swapped', () => {
    expect(due('absent', 'absent')).toEqual(both(...ALL));
    for (const phase of restorePhases(restore)) expect(phase.overlaps, phase.name).toBeUndefined();
  });

  test('that was cut off continues on each host after its last stage', () => {
    expect(due(marker('swapped'), marker('stopped'))).toEqual([
      'restore-swap cp2',
      ...both('start', 'serves', 'end', 'forget'),
    ]);
  });

  test('of another snapshot starts from the beginning', () => {
    expect(due(marker('swapped', 'run0-other'), 'absent')).toEqual(both(...ALL));
  });

  test('writes to the folder that the manifest names, and keeps the data before it there', async () => {
    const { changes } = plan(restorePhases(restore), inventory, seen('absent', 'absent'));
    const { on, sent } = recordingOn();
    for (const { host, change } of changes) if (host === 'cp1') await change.apply?.(on);
    expect(sent[0]).toMatchObject({ kind: 'upload', to: '/data/etcd/kbuild-restore/snapshot.db' });
    const jobs = sent.flatMap((one) => (one.kind === 'job' ? [one] : []));
    expect(jobs.map(({ name }) => name)).toEqual([
      'etcd-restore',
      'etcd-restore-stop',
      'etcd-restore-swap',
      'etcd-restore-start',
    ]);
    expect(jobs[0]!.script).toContain('cp1=https://10.0.0.11:2380,cp2=https://10.0.0.12:2380');
    expect(jobs[2]!.script).toMatch(
      /FOLDER=\/data\/etcd\nWORK=\/data\/etcd\/kbuild-restore\nKEPT=\/data\/etcd\/before-restore-run1-abc/,
    );
    for (const [job, stage] of jobs.map((one, i) => [one, ['prepared', 'stopped', 'swapped', 'started'][i]!] as const))
      expect(job.script).toContain(`STAGE=${stage}`);
  });

  test('that cannot make the data leaves none of it on the host', async () => {
    const [change] = plan(restorePhases(restore), inventory, seen('absent', 'absent')).changes;
    const { on, sent } = recordingOn({
      job: () => {
        throw new Error('no space left');
      },
    });
    await expect(change!.change.apply!(on)).rejects.toThrow('no space left');
    expect(sent.at(-1)).toMatchObject({ kind: 'run', script: 'rm -rf -- /data/etcd/kbuild-restore' });
  });

  test('ends when etcd serves exactly the restored members', () => {
    const served = (over: Partial<MemberView>) =>
      clusterOf({
        members: [cp1, cp2].map((host) => member(host.name, { id: restoredMemberId(restore, host), ...over })),
        apiServers: new Map([
          ['cp1', 'ok'],
          ['cp2', 'ok'],
        ]),
      });
    const started = [marker('started'), marker('started')] as const;
    expect(due(...started, served({}))).toEqual(both('end', 'forget'));
    expect(due(...started, served({ healthy: false }))).toEqual(both('serves', 'end', 'forget'));
    const fleet = seen(...started, served({ id: '8e9e05c52164694d' }));
    expect(plan(restorePhases(restore), inventory, fleet).changes[0]!.summary).toMatch(
      /etcd serves other data than was restored: its member 8e9e05c52164694d is not [0-9a-f]+/,
    );
  });

  test('removes its notes when all hosts are noted as served, and then plans nothing', () => {
    const served = clusterOf({
      members: [cp1, cp2].map((host) => member(host.name, { id: restoredMemberId(restore, host) })),
    });
    const forget = (...fleet: Parameters<typeof seen>) => due(...fleet).filter((entry) => /forget/.test(entry));
    expect(due(marker('served'), marker('served'), served)).toEqual(both('forget'));
    expect(forget('absent', marker('served'), served)).toEqual(['restore-forget cp2']);
    expect(forget('absent', 'absent', served)).toEqual([]);
    expect(forget('absent', 'absent', clusterOf({ members: [member('cp1'), member('cp2')] }))).toEqual(both('forget'));
  });

  test('has members that no other etcd has: their ids depend on the restore and the address', () => {
    const single = { inventory: inventoryOf({ name: 'abc' }), id: 'x' };
    expect(restoredMemberId(single, cp1)).toMatch(/^[0-9a-f]{1,16}$/);
    expect(restoredMemberId(single, cp1)).not.toBe(restoredMemberId({ ...single, id: 'y' }, cp1));
    expect(restoredMemberId(single, cp1)).not.toBe(restoredMemberId(single, cp2));
  });
});

describe('a restore that was cut off', () => {
  const messages = (one: Marker) => refusals(inventory, seen(one, 'absent')).map(({ message }) => message);

  test('is continued by the same command alone once something was stopped', () => {
    expect(messages(marker('stopped'))).toEqual(['cp1: refused: a restore of etcd was cut off here (stopped)']);
    expect(messages(marker('prepared'))).toEqual([]);
  });

  test('is known by its marker until it has ended', () => {
    expect(begunRestore(['absent', marker('served')])).toBeUndefined();
    expect(begunRestore([marker('served'), marker('started')])?.stage).toBe('started');
  });

  test('keeps its id while a host has not served the restored data', () => {
    const markers = [marker('served', 'run1-abc'), marker('started', 'run1-abc')];
    expect(restoreIdOf(markers, 'abc', 'run2')).toEqual({ id: 'run1-abc' });
    expect(restoreIdOf(markers, 'def', 'run2')).toEqual({ id: 'run2-def' });
    expect(restoreIdOf(['absent', 'unreadable'], 'abc', 'run2')).toEqual({ id: 'run2-abc' });
  });

  test('in its last phase is not carried out again: the same command only removes the notes that are left', () => {
    const markers = [marker('served', 'run1-abc'), 'absent'] as const;
    expect(restoreIdOf(markers, 'def', 'run2')).toEqual({ id: 'run2-def' });
    const ended = { ...restore, ...restoreIdOf(markers, 'abc', 'run2') };
    expect(ended).toMatchObject({ id: 'run1-abc', hasEnded: true });
    // Also while the API does not answer.
    for (const cluster of [down, clusterOf({ members: [member('cp1'), member('cp2')] })]) {
      const { changes } = plan(restorePhases(ended), inventory, seen(...markers, cluster));
      expect(changes.map(({ phase, host }) => `${phase} ${host}`)).toEqual(['restore-forget cp1']);
    }
  });

  test('is removed by the next up if it only prepared data', async () => {
    const single = inventoryOf({ hosts: [cp1] });
    const facts = joinedControlPlane({ marker: marker('prepared'), etcdFolder: '/data/etcd' });
    const { on, sent } = recordingOn();
    const [change] = noMarker.diff(targetOf(single, cp1, fleetIn(clusterOf(), [cp1, facts])));
    await change!.apply!(on);
    expect(sent).toMatchObject([{ script: expect.stringContaining('/data/etcd/kbuild-restore') as string }]);
    const stopped = joinedControlPlane({ marker: marker('stopped') });
    expect(noMarker.diff(targetOf(single, cp1, fleetIn(clusterOf(), [cp1, stopped])))).toEqual([]);
  });
});

describe('a restore onto an upgrade that was cut off', () => {
  const upgrade: Marker = {
    cluster: 'demo',
    action: 'upgrade',
    job: 'j',
    stage: 'begun',
    about: '1.37.1',
    how: 'apply',
  };
  const files = new Map(
    ['etcd', 'kube-controller-manager', 'kube-scheduler'].map((name) => [
      `/etc/kubernetes/manifests/${name}.yaml`,
      { kind: 'file' } as never,
    ]),
  );

  test('puts back the manifest that kubeadm had moved away, before anything else', () => {
    const fleet = fleetIn(down, joinedHost(cp1, { marker: upgrade, files }), joinedHost(cp2));
    expect(plan(restorePhases(restore), inventory, fleet).changes[0]).toMatchObject({
      ...{ phase: 'restore-repair', host: 'cp1' },
      summary:
        'put back /etc/kubernetes/manifests/kube-apiserver.yaml, which an upgrade that was cut off had moved away',
    });
  });

  /** A host's folder of markers, on this machine. */
  const folder = mkdtempSync(join(tmpdir(), 'kbuild-markers-'));
  const here = (text: string): string => text.replaceAll('/var/lib/kbuild', folder);
  const left = (): Marker | 'absent' | 'unreadable' =>
    markerOf(existsSync(join(folder, 'marker.json')) ? readFileSync(join(folder, 'marker.json'), 'utf8') : 'absent');
  const runs = (text: string): void => {
    const { status, stderr } = spawnSync('sh', ['-eu', '-c', here(text)], { encoding: 'utf8', cwd: folder });
    expect(status, stderr).toBe(0);
  };
  /** Notes a stage of the restore there, as the command after its work does. */
  const notes = async (stage: string): Promise<void> => {
    const steps = restorePhases(restore).flatMap((phase) => phase.steps as readonly Step[]);
    const step = steps.find(({ name }) => name === stage)!;
    const { on, sent } = recordingOn();
    for (const change of step.diff(targetOf(inventory, cp1, seen('absent', 'absent')))) await change.apply!(on);
    const script = sent.map((one) => ('script' in one ? one.script : '')).join('\n');
    runs(script.slice(script.indexOf('mark() {')));
  };

  test('keeps its marker, and gives it back in the end: upgrade goes on as it was begun', async () => {
    writeFileSync(join(folder, 'marker.json'), JSON.stringify(upgrade));
    for (const stage of ['etcd-restore-stopped', 'etcd-restore-ended']) {
      await notes(stage);
      expect(left()).toMatchObject({ action: 'restore', about: restore.id });
    }
    runs(markerAway().script);
    expect(left()).toEqual(upgrade);
    await notes('etcd-restore-stopped');
    runs(takeBack('/none').script);
    expect(left()).toEqual(upgrade);
    rmSync(join(folder, 'marker.json'));
    await notes('etcd-restore-stopped');
    runs(markerAway().script);
    expect(left()).toBe('absent');
  });
});

describe('a recovery of the only member that is left', () => {
  const recovery: Restore = { ...restore, controls: [cp1], members: [cp1], snapshot: undefined, id: 'run1-own-data' };
  const at = (stage?: string) => {
    const facts = {
      marker: stage === undefined ? ('absent' as const) : marker(stage, recovery.id),
      etcdFolder: '/data/etcd',
    };
    return plan(restorePhases(recovery), inventory, fleetIn(down, joinedHost(cp1, facts))).changes;
  };
  const phases = (stage?: string) => at(stage).map(({ phase }) => phase);

  test('stops etcd before it reads its data: what etcd wrote later would be lost', () => {
    expect(phases().slice(0, 3)).toEqual(['restore-stop', 'recover-take', 'restore-swap']);
  });

  test('that was cut off goes on after its last stage', () => {
    expect(phases('stopped')[0]).toBe('recover-take');
    expect(phases('taken')[0]).toBe('restore-swap');
  });

  test('makes new data from the old, and uploads nothing', async () => {
    const { on, sent } = recordingOn();
    await at('stopped')[0]!.change.apply!(on);
    const jobs = sent.flatMap((one) => (one.kind === 'job' ? [one] : []));
    expect(jobs.map(({ name }) => name)).toEqual(['etcd-take-data', 'etcd-restore']);
    expect(jobs).toHaveLength(sent.length);
    expect(jobs[0]!.script).toContain('--force-new-cluster');
    expect(jobs[1]!.script).toContain('STAGE=taken');
  });

  test('is no rest for `up`, whatever its stage: it names the command', () => {
    for (const stage of ['stopped', 'taken', 'swapped', 'started']) {
      const fleet = fleetIn(down, joinedHost(cp1, { marker: marker(stage, recovery.id) }));
      expect(refusals(inventory, fleet).map(({ remedy }) => remedy)).toContain(
        'run the same command again: `kbuild etcd recover`',
      );
    }
  });
});

describe('members that a restore leaves out', () => {
  const command = (names: readonly string[]) => `again --dead ${names.join()}`;
  const other = (name: string, state: OtherMember['state']): OtherMember => ({
    name,
    peerUrl: `https://${name}:2380`,
    state,
  });
  const refusal = (others: readonly OtherMember[], ...dead: readonly string[]) =>
    otherMembersRefusal(others, dead, command);

  test('are refused while they run, also when they are declared dead', () => {
    for (const dead of [[], ['cp3']])
      expect(refusal([other('cp3', 'healthy')], ...dead)?.message).toMatch(
        /^cp3: refused: etcd runs there .*: healthy\)/,
      );
    expect(refusal([other('cp3', 'runs'), other('cp4', 'silent')], 'cp3', 'cp4')?.message).toMatch(/^cp3: refused/);
  });

  test('must each be declared dead when they do not answer', () => {
    const missing = refusal([other('cp3', 'silent'), other('cp4', 'silent')], 'cp3');
    expect(missing?.message).toMatch(/^cp4: refused: etcd has this member beside the restored ones/);
    expect(missing?.remedy).toBe('if it is gone for good: `again --dead cp4`');
    expect(refusal([other('cp3', 'silent')], 'cp3')).toBeUndefined();
    expect(refusal([])).toBeUndefined();
  });

  test('are read from etcd while it answers', async () => {
    const cluster = clusterOf({
      nodes: [nodeOf({ name: 'cp1', role: 'control-plane' })],
      members: [member('cp1'), member('cp2'), member('cp3'), member('cp4', { healthy: false })],
    });
    const { on } = recordingOn({ run: () => 'silent\n' });
    expect(await otherMembers(on, inventoryOf(), seen('absent', 'absent', cluster), [cp1, cp2])).toEqual([
      { name: 'cp3', peerUrl: 'https://10.0.0.9:2380', state: 'healthy' },
      { name: 'cp4', peerUrl: 'https://10.0.0.9:2380', state: 'silent' },
    ]);
  });

  test("are read from the members' data while no etcd runs", async () => {
    const data =
      '{"id":1,"peerURLs":["https://10.0.0.11:2380"],"name":"cp1"}\n{"id":3,"peerURLs":["https://10.0.0.13:2380"],"isLearner":true,"name":"cp3"}\n';
    const { on } = recordingOn({
      run: ({ title, script }) => {
        if (title === 'etcd/etcd-members-in-data.sh') return data;
        if (script.includes('/dev/tcp')) return script.includes('10.0.0.13 2380') ? 'listens\n' : 'silent\n';
        throw new Error('no etcd container runs');
      },
    });
    expect(await otherMembers(on, inventoryOf(), seen('absent', 'absent'), [cp1, cp2])).toEqual([
      { name: 'cp3', peerUrl: 'https://10.0.0.13:2380', state: 'runs' },
    ]);
    expect(membersInData('garbage\n')).toEqual([]);
  });
});

describe('hosts of the inventory that a restore leaves out', () => {
  const three = inventoryOf({ hosts: [cp1, cp2, cp3] });
  const command = (names: readonly string[]) => `again --dead ${names.join()}`;
  const living = (listens: (script: string) => boolean) => {
    const { on } = recordingOn({ run: ({ script }) => (listens(script) ? 'listens\n' : 'silent\n') });
    return livingHosts(on, three, [cp1]);
  };

  test('are a refusal while anything answers at their ports, though no list of members names them', async () => {
    const { on } = recordingOn({
      run: ({ script }) => {
        if (script.includes('member list')) throw new Error('no etcd container runs');
        return '';
      },
    });
    expect(await otherMembers(on, three, seen('absent', 'absent'), [cp1])).toEqual([]);
    const found = await living((script) => /10\.0\.0\.12 (2380|6443)|10\.0\.0\.13 6443/.test(script));
    expect(found).toEqual([
      { name: 'cp2', at: ['10.0.0.12:2380', '10.0.0.12:6443'] },
      { name: 'cp3', at: ['10.0.0.13:6443'] },
    ]);
    const refused = livingHostsRefusal(found, command);
    expect(refused?.message).toMatch(
      /^cp2, cp3: refused: something answers there \(10\.0\.0\.12:2380, 10\.0\.0\.12:6443, 10\.0\.0\.13:6443\)/,
    );
    expect(refused?.remedy).toContain('switch them off for good, and run `again --dead cp2,cp3`');
  });

  test('are left out when nothing answers there', async () => {
    expect(await living(() => false)).toEqual([]);
    expect(livingHostsRefusal([], command)).toBeUndefined();
  });

  test('are heard by any of the restored hosts', async () => {
    const { on } = recordingOn({ run: (_, host) => (host.name === 'cp2' ? 'listens\n' : 'silent\n') });
    expect((await livingHosts(on, three, [cp1, cp2])).map(({ name }) => name)).toEqual(['cp3']);
  });
});
