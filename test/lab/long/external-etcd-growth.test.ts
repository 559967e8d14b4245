/**
 * An etcd that kbuild builds on hosts of its own: a founder loses its power in the middle of init; then one member becomes
 * three, five, and three again. The tests build on each other.
 */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startWriter } from '../api-writer.ts';
import { eventsOf } from '../kbuild.ts';
import * as lab from '../lab.ts';
import { timed, unchanged } from '../ok.ts';
import { nodes } from '../pods.ts';
import { membersOf, stacked, type Stacked } from '../stacked.ts';
import { waitUntil } from '../wait-until.ts';

const [one, two, three, four, five] = ['eegetcd1', 'eegetcd2', 'eegetcd3', 'eegetcd4', 'eegetcd5'] as const;
const CONTROLS = ['eegcp1', 'eegcp2'] as const;
const HOSTS = [one, two, three, four, five, ...CONTROLS];
let cluster: Stacked;
let writer: ReturnType<typeof startWriter>;

/** Addresses at which the API server of each control plane looks for etcd. */
const ledTo = (): Promise<readonly string[]> =>
  Promise.all(
    CONTROLS.map(async (host) =>
      (
        await lab.inside(host, 'sed -n "s/.*--etcd-servers=//p" /etc/kubernetes/manifests/kube-apiserver.yaml')
      ).stdout.trim(),
    ),
  );
const urls = (...names: readonly string[]): string =>
  names.map((name) => `https://${lab.hostSettings(name).address}:2379`).join(',');

beforeAll(async () => {
  cluster = await stacked('eegrow', 7463, HOSTS, { etcd: { topology: 'external' } });
});
afterAll(async () => {
  cluster.balancer.close();
  await lab.down(HOSTS);
});

test('one member, and a founder that loses its power in the middle of init: undone, its keys too, and done again', async () => {
  await cluster.name([one, ...CONTROLS]);
  const running = cluster.startUp();
  // kbuild itself listens there while it surveys the ports: its own API server has a manifest.
  const serves = 'test -e /etc/kubernetes/manifests/kube-apiserver.yaml && ss -ltn sport = :6443';
  await waitUntil('an API server', 900_000, async () =>
    (await lab.inside(CONTROLS[0], serves)).stdout.includes(':6443'),
  );
  running.kill('SIGKILL');
  await lab.kill([CONTROLS[0]]);
  await lab.start([CONTROLS[0]]);
  await running.ended;
  timed('1 + 2 built by the second run', await cluster.up());
  expect(await membersOf(cluster)).toEqual([one]);
  expect(await nodes(CONTROLS[0])).toEqual({ eegcp1: true, eegcp2: true });
});

test('the last member is not removed', async () => {
  const { code, stderr } = await cluster.run('remove', one, '--yes');
  expect(code, stderr).toBe(7);
  expect(stderr).toContain(`${one} is the last voter`);
  writer = startWriter(cluster.kubeconfig);
});

test.each([
  ['1 → 3', [one, two, three]],
  ['3 → 5', [one, two, three, four, five]],
])('%s: API servers follow, one after another', async (what, members) => {
  await cluster.name([...members, ...CONTROLS]);
  const ran = timed(what, await cluster.up('--json'));
  expect(eventsOf(ran).filter(({ kind }) => kind === 'unplanned')).toEqual([]);
  expect(await membersOf(cluster)).toEqual(members);
  expect(new Set(await ledTo())).toEqual(new Set([urls(...members)]));
  unchanged(await cluster.up());
});

test('5 → 3, the first one among those that go', async () => {
  const left = [two, three, four];
  timed('5 → 3', await cluster.run('remove', one, five, '--yes'));
  await cluster.name([...left, ...CONTROLS]);
  timed('API servers led to three', await cluster.up());
  expect(new Set(await ledTo())).toEqual(new Set([urls(...left)]));
  expect(await membersOf(cluster)).toEqual(left);
  unchanged(await cluster.up());
});

test('nothing that was acknowledged is lost', async () => {
  const { acknowledged, lost, longestGapMs } = await writer.stop();
  console.log(`${String(acknowledged)} writes acknowledged, longest gap ${String(longestGapMs)} ms`);
  expect(lost).toEqual([]);
});

test('reset leaves nothing of etcd', async () => {
  timed('reset', await cluster.run('reset', '--yes-destroy', 'eegrow'));
  const left =
    'ls -A /etc/kubernetes/manifests /etc/kubernetes/pki/etcd /var/lib/etcd /etc/systemd/system/kubelet.service.d 2>/dev/null | grep -v :';
  for (const host of [two, three, four]) expect((await lab.inside(host, left)).stdout.trim(), host).toBe('');
});
