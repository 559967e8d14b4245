/**
 * Two of three control planes are gone for good, and the third one has lost its power: its etcd serves nothing. `etcd recover` makes what
 * it has the cluster, without a snapshot and also when it is killed, and the cluster grows again, by more than it had. The tests build on each other.
 */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startWriter } from '../api-writer.ts';
import { answering, cutPower, powerOn } from '../host-power.ts';
import { eventsOf, start } from '../kbuild.ts';
import * as lab from '../lab.ts';
import { expectJoins, expectSettled } from '../lives-on.ts';
import { ok, timed } from '../ok.ts';
import { kubectl, nodes } from '../pods.ts';
import { membersOf, stacked, type Stacked } from '../stacked.ts';
import { waitUntil } from '../wait-until.ts';

const HOSTS = ['ercp1', 'ercp2', 'ercp3'];
const [left, ...GONE] = HOSTS as [string, string, string];
const LATER = ['ercp4', 'erw1'];
const DEAD = GONE.join(',');
const HALF_AN_HOUR = 1_800_000;
let cluster: Stacked;

beforeAll(async () => {
  cluster = await stacked('recover', 7525, HOSTS);
  ok(await cluster.up());
});
afterAll(async () => {
  cluster.balancer.close();
  await lab.down([...HOSTS, ...LATER]);
});

test('while etcd has quorum there is nothing to recover', async () => {
  const { code, stderr } = await cluster.run('etcd', 'recover', '--yes');
  expect(code, stderr).toBe(7);
  expect(stderr).toContain('etcd has quorum');
  expect(await membersOf(cluster)).toEqual(HOSTS);
});

test('the only member that is left becomes the cluster, in spite of a kill, and no write is missing', async () => {
  const writer = startWriter(cluster.kubeconfig);
  await kubectl(left, 'create configmap kept-by-three');
  await lab.kill(GONE.slice(1));
  await kubectl(left, 'create configmap kept-by-two');
  await lab.kill(GONE.slice(0, 1));
  await cutPower(left);
  await powerOn(left);
  await answering(left);
  const undeclared = await cluster.run('etcd', 'recover', '--yes');
  expect(undeclared.code, undeclared.stderr).not.toBe(0);
  expect(undeclared.stderr).toContain(`--dead ${DEAD}`);

  const first = start(['etcd', 'recover', '-i', cluster.file, '--dead', DEAD, '--yes', '--json']);
  await waitUntil('data is taken over', HALF_AN_HOUR, () =>
    eventsOf({ stdout: first.printed().replace(/[^\n]*$/, '') }).some(
      (event) => event.kind === 'changing' && event.step === 'etcd-data-taken',
    ),
  );
  first.kill('SIGKILL');
  await first.ended;
  const up = await cluster.up('--dead', DEAD);
  expect(up.code, up.stderr).toBe(7);
  expect(up.stderr).toContain('`kbuild etcd recover`');

  const ran = timed('the same command', await cluster.run('etcd', 'recover', '--dead', DEAD, '--yes'));
  expect(ran.stdout).toContain(`kbuild remove ${GONE.join(' ')} --dead ${DEAD}`);
  const { lost, acknowledged, longestGapMs } = await writer.stop();
  console.log(`${String(acknowledged)} writes, ${String(lost.length)} lost, longest gap ${String(longestGapMs)} ms`);
  // etcd acknowledges the last write before it has told the follower that it is committed.
  expect(lost.length).toBeLessThanOrEqual(1);
  expect(await membersOf(cluster)).toEqual([left]);
  const kept = await kubectl(left, 'get configmaps -o name');
  expect(kept).toContain('configmap/kept-by-three');
  expect(kept).toContain('configmap/kept-by-two');
  const again = await cluster.run('etcd', 'recover', '--dead', DEAD, '--yes');
  expect(again.code, again.stderr).toBe(7);
});

test('it grows to three again, with new machines under the old names', async () => {
  timed('removed', await cluster.run('remove', ...GONE, '--dead', DEAD, '--yes'));
  await lab.reset(GONE);
  timed('1 → 3', await cluster.up());
  expect(await membersOf(cluster)).toEqual(HOSTS);
  expect(await nodes(left)).toEqual(Object.fromEntries(HOSTS.map((host) => [host, true])));
  expect(await kubectl(GONE[0], 'get configmaps -o name')).toContain('configmap/kept-by-two');
  await expectSettled(cluster, HOSTS);
});

test('afterwards a control plane and a worker more can join', async () => {
  await expectJoins(cluster, HOSTS, LATER);
});
