/**
 * A control plane grows 1 → 3 → 5, shrinks to 3, and the host that founded it is destroyed and replaced under the same name,
 * while a client writes and reads through the endpoint; then joins are cut in the middle. The tests build on each other.
 */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startWriter } from '../api-writer.ts';
import { eventsOf } from '../kbuild.ts';
import * as lab from '../lab.ts';
import { timed } from '../ok.ts';
import { membersOf, stacked, type Stacked } from '../stacked.ts';
import { waitUntil } from '../wait-until.ts';

const [one, three, five] = [['hcp1'], ['hcp3', 'hcp1', 'hcp2'], ['hcp4', 'hcp3', 'hcp1', 'hcp2', 'hcp5']] as const;
const HOSTS = [...five].sort();
let cluster: Stacked;
let writer: ReturnType<typeof startWriter>;

/** True once etcd, asked on a host, has a learner. */
const hasLearner = async (host: string): Promise<boolean> => {
  const { stdout } = await lab.inside(
    host,
    `id=$(ctr -n k8s.io containers ls -q 'labels."io.kubernetes.container.name"==etcd' | while read -r c; do ctr -n k8s.io tasks ls | awk -v c="$c" '$1 == c && $3 == "RUNNING" { print c }'; done | head -n 1)
     p=/etc/kubernetes/pki/etcd
     ctr -n k8s.io tasks exec --exec-id "watch-$$" "$id" etcdctl --endpoints https://127.0.0.1:2379 --cacert $p/ca.crt --cert $p/server.crt --key $p/server.key member list`,
  );
  return /, true$/m.test(stdout);
};

beforeAll(async () => {
  cluster = await stacked('hlong', 7453, HOSTS);
});
afterAll(async () => {
  cluster.balancer.close();
  await lab.down(HOSTS);
});

test('one control plane', async () => {
  await cluster.name(one);
  timed('1', await cluster.up());
  writer = startWriter(cluster.kubeconfig);
});

test.each([
  ['1 → 3', three],
  ['3 → 5', five],
])('%s: only what is new is touched', async (what, names) => {
  const before = await membersOf(cluster);
  await cluster.name(names);
  const ran = timed(what, await cluster.up('--json'));
  const joined = eventsOf(ran).flatMap((event) =>
    event.kind === 'changed' && event.step === 'kubeadm-join' ? [event.host] : [],
  );
  expect([...joined].sort()).toEqual([...names].filter((name) => !before.includes(name)).sort());
  expect(await membersOf(cluster)).toEqual([...names].sort());
});

test('5 → 3', async () => {
  timed('5 → 3', await cluster.run('remove', 'hcp4', 'hcp5', '--yes'));
  await cluster.name(three);
  expect(await membersOf(cluster)).toEqual([...three].sort());
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
  expect(lost).toEqual([]);
});

test.each(['kbuild alone', 'kbuild and the power of the host'])(
  'a join cut between MemberAdd and promote: %s',
  async (what) => {
    timed('hcp1 removed', await cluster.run('remove', 'hcp1', '--yes'));
    const running = cluster.startUp();
    await waitUntil('a learner', 300_000, () => hasLearner('hcp2'));
    running.kill('SIGKILL');
    if (what !== 'kbuild alone') {
      await lab.kill(['hcp1']);
      await lab.start(['hcp1']);
    }
    await running.ended;
    timed(`after ${what} was cut`, await cluster.up());
    expect(await membersOf(cluster)).toEqual([...three].sort());
    expect((await cluster.up()).stdout).toBe('nothing to do\n');
  },
);
