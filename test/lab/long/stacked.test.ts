/**
 * 3 + 2 are built from bare hosts and shrink to a single control plane, which grows to 3 and 5 and shrinks to 3; the host that
 * founded it is destroyed and replaced under the same name, while a client writes and reads through the endpoint all the
 * time; then joins are cut in the middle. The tests build on each other.
 */
import { existsSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startWriter } from '../api-writer.ts';
import { eventsOf, type Ran } from '../kbuild.ts';
import * as lab from '../lab.ts';
import { timed, unchanged } from '../ok.ts';
import { nodes } from '../pods.ts';
import { etcdctl, etcdOf, membersOf, stacked, type Stacked } from '../stacked.ts';
import { waitUntil } from '../wait-until.ts';

const [one, three, five] = [['hcp1'], ['hcp3', 'hcp1', 'hcp2'], ['hcp4', 'hcp3', 'hcp1', 'hcp2', 'hcp5']] as const;
const WORKERS = ['hw1', 'hw2'];
const HOSTS = [...[...five].sort(), ...WORKERS];
/** As many automatic snapshots as are kept. */
const KEPT = 5;
const JOB_MS = 300_000;
let cluster: Stacked;
let writer: ReturnType<typeof startWriter>;

/** True once etcd, asked on a host, has a learner. */
const hasLearner = async (host: string): Promise<boolean> => /, true$/m.test(await etcdctl(host, 'member list'));

/** Where a run changed something, and by which step, in order. */
const changedBy = (ran: Pick<Ran, 'stdout'>): readonly { readonly host: string; readonly step: string }[] =>
  eventsOf(ran).flatMap((event) => (event.kind === 'changed' ? [{ host: event.host, step: event.step }] : []));

beforeAll(async () => {
  cluster = await stacked('hlong', 7453, HOSTS);
});
afterAll(async () => {
  cluster.balancer.close();
  await lab.down(HOSTS);
});

test('three control planes and two workers from bare hosts; a client writes as soon as the endpoint serves', async () => {
  await cluster.name(['hcp1', 'hcp2', 'hcp3', ...WORKERS]);
  const running = cluster.startUp();
  const admin = '/etc/kubernetes/admin.conf';
  await waitUntil(
    'the endpoint to take a write',
    2 * JOB_MS,
    async () =>
      (await lab.inside('hcp1', `kubectl --kubeconfig ${admin} create configmap first --dry-run=server`)).code === 0,
  );
  const early = join(cluster.file, '..', 'early.kubeconfig');
  writeFileSync(early, (await lab.inside('hcp1', `cat ${admin}`)).stdout, { mode: 0o600 });
  writer = startWriter(early);
  timed('3 + 2', await running.ended);
  expect(await membersOf(cluster)).toEqual(['hcp1', 'hcp2', 'hcp3']);
  expect(await nodes('hcp1')).toEqual({ hcp1: true, hcp2: true, hcp3: true, hw1: true, hw2: true });
});

test('3 + 2 → 1: one command removes all other hosts', async () => {
  timed('3 + 2 → 1', await cluster.run('remove', 'hcp2', 'hcp3', ...WORKERS, '--yes'));
  await cluster.name(one);
  expect(await membersOf(cluster)).toEqual(['hcp1']);
  expect(await nodes('hcp1')).toEqual({ hcp1: true });
  unchanged(await cluster.up());
});

test.each([
  ['1 → 3', three],
  ['3 → 5', five],
])('%s: only what is new is touched', async (what, names) => {
  const before = await membersOf(cluster);
  await cluster.name(names);
  const added: readonly string[] = names.filter((name) => !before.includes(name)).sort();
  const changed = changedBy(timed(what, await cluster.up('--json')));
  // The balancer is the user's own, and the settings are the same: no other host changes.
  expect(changed.filter(({ host }) => !added.includes(host))).toEqual([]);
  expect(changed.flatMap(({ host, step }) => (step === 'kubeadm-join' ? [host] : [])).sort()).toEqual(added);
  expect(await membersOf(cluster)).toEqual([...names].sort());
});

test('5 → 3, one of the two is etcd’s leader', async () => {
  const { leader, members } = await etcdOf(cluster);
  const id = members.find(({ name }) => name === 'hcp4')!.id;
  if (leader !== 'hcp4') await etcdctl(leader, `move-leader ${id}`);
  expect((await etcdOf(cluster)).leader).toBe('hcp4');
  timed('5 → 3', await cluster.run('remove', 'hcp4', 'hcp5', '--yes'));
  await cluster.name(three);
  expect(await membersOf(cluster)).toEqual([...three].sort());
  expect(three).toContain((await etcdOf(cluster)).leader);
});

test('the founder is destroyed: another cannot be removed, the dead one can, and its replacement joins', async () => {
  await lab.kill(['hcp1']);
  const { code, stderr } = await cluster.run('remove', 'hcp2', '--yes', '--dead', 'hcp1');
  expect(code, stderr).toBe(7);
  expect(stderr).toContain('2 of 3 voters healthy, quorum 2; without hcp2 1 of 2 would be healthy, quorum 2');
  expect((await cluster.run('remove', 'hcp1', '--yes')).code).toBe(3);
  timed('the dead one removed', await cluster.run('remove', 'hcp1', '--yes', '--dead', 'hcp1'));
  await lab.reset(['hcp1']);
  timed('replaced', await cluster.up());
  expect(await membersOf(cluster)).toEqual([...three].sort());
});

test('nothing that was acknowledged is lost', async () => {
  const { acknowledged, lost, longestGapMs } = await writer.stop();
  console.log(`${String(acknowledged)} writes acknowledged, longest gap ${String(longestGapMs)} ms`);
  expect(acknowledged).toBeGreaterThan(0);
  expect(lost).toEqual([]);
});

/** hcp1 leaves and joins again; its kubeadm is frozen while etcd has it as a learner, and kbuild is killed. */
async function cutJoin(): Promise<void> {
  timed('hcp1 removed', await cluster.run('remove', 'hcp1', '--yes'));
  const running = cluster.startUp();
  await waitUntil('a learner', JOB_MS, () => hasLearner('hcp2'));
  expect((await lab.inside('hcp1', "pkill -STOP -f '^kubeadm join'")).code).toBe(0);
  running.kill('SIGKILL');
  await running.ended;
  expect(await hasLearner('hcp2'), 'promoted before it was cut').toBe(true);
}

const stepsOnHcp1 = (ran: Ran): readonly string[] =>
  changedBy(ran).flatMap(({ host, step }) => (host === 'hcp1' ? [step] : []));

test('a join cut between MemberAdd and promote, kbuild alone: it is followed to its end, not undone', async () => {
  await cutJoin();
  const running = cluster.startUp('--json');
  await waitUntil('the run to follow', JOB_MS, () =>
    running.printed().includes('"summary":"wait for kbuild-job-kubeadm-join'),
  );
  await lab.inside('hcp1', "pkill -CONT -f '^kubeadm join'");
  const ran = timed('after kbuild alone was cut', await running.ended);
  expect(stepsOnHcp1(ran)).not.toContain('undo-half-finished');
  expect(stepsOnHcp1(ran)).not.toContain('kubeadm-join');
  expect(await membersOf(cluster)).toEqual([...three].sort());
  unchanged(await cluster.up());
});

test('a join cut between MemberAdd and promote, with the power of the host: it is undone with its learner, and done again', async () => {
  await cutJoin();
  await lab.kill(['hcp1']);
  await lab.start(['hcp1']);
  const ran = timed('after the power was cut', await cluster.up('--json'));
  expect(stepsOnHcp1(ran).filter((step) => ['undo-half-finished', 'kubeadm-join'].includes(step))).toEqual([
    'undo-half-finished',
    'kubeadm-join',
  ]);
  expect(ran.stdout).toMatch(
    /"summary":"undo a half-finished join of hlong \(found \d+ leftovers and its etcd learner /,
  );
  expect(await membersOf(cluster)).toEqual([...three].sort());
  unchanged(await cluster.up());
});

test('the newest snapshots that were taken before changes of the members are kept, and private', () => {
  const state = join(cluster.file, '..', 'state');
  const taken = readdirSync(state, { recursive: true, encoding: 'utf8' }).filter((path) =>
    /\/snapshots\/auto-[^/]*\.db$/.test(path),
  );
  expect(taken).toHaveLength(KEPT);
  for (const path of taken) {
    expect(statSync(join(state, path)).mode & 0o777).toBe(0o600);
    expect(existsSync(join(state, `${path}.json`)), path).toBe(true);
  }
});
