/**
 * A control plane that has lost keys gets them back from another one, and one whose etcd cannot read its data any more is made anew, behind
 * the quorum gate and under a client that writes. Both go on where kbuild was killed, and hosts can join afterwards. The tests build on
 * each other.
 */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startWriter } from '../api-writer.ts';
import { eventsOf } from '../kbuild.ts';
import { killedAtChanges } from '../killed-at-changes.ts';
import * as lab from '../lab.ts';
import { expectJoins, expectSettled } from '../lives-on.ts';
import { ok } from '../ok.ts';
import { kubectl, nodes } from '../pods.ts';
import { membersOf, stacked, type Stacked } from '../stacked.ts';
import { waitUntil } from '../wait-until.ts';

const HOSTS = ['l2dcp1', 'l2dcp2', 'l2dcp3'];
const [first, second, damaged] = HOSTS as [string, string, string];
const LATER = ['l2dcp4', 'l2dw1'];
const KEYS = ['ca.key', 'sa.key', 'etcd/ca.key', 'front-proxy-ca.key'].map((name) => `/etc/kubernetes/pki/${name}`);
let cluster: Stacked;

const hashes = async (host: string): Promise<string> => (await lab.inside(host, `sha256sum ${KEYS.join(' ')}`)).stdout;

beforeAll(async () => {
  cluster = await stacked('damaged', 7933, HOSTS);
  ok(await cluster.up());
});
afterAll(async () => {
  cluster.balancer.close();
  await lab.down([...HOSTS, ...LATER]);
});

test('lost keys are found, and come back from another control plane', async () => {
  await lab.inside(second, `rm ${KEYS.join(' ')}`);
  const { stdout } = await cluster.run('check', '--json');
  const { findings } = JSON.parse(stdout) as {
    readonly findings: readonly { readonly check: string; readonly message: string }[];
  };
  expect(findings.filter(({ check }) => check === 'shared-keys').map(({ message }) => message)).toHaveLength(
    KEYS.length,
  );
  const changed = eventsOf(ok(await cluster.up('--json'))).filter(({ kind }) => kind === 'changed');
  expect(new Set(changed.map((event) => ('step' in event ? event.step : '')))).toEqual(new Set(['shared-keys']));
  expect(await hashes(second)).toBe(await hashes(first));
  expect((await lab.inside(second, `stat -c %a ${KEYS.join(' ')}`)).stdout.trim().split('\n')).toEqual(
    KEYS.map(() => '600'),
  );
  ok(await cluster.run('plan', '--detailed-exitcode'));
});

test('keys that two control planes have lost come back, also when kbuild is killed at every change', async () => {
  for (const host of [second, damaged]) await lab.inside(host, `rm ${KEYS.join(' ')}`);
  const { last, kills, made } = await killedAtChanges([
    'up',
    cluster.file,
    '--yes',
    '--kubeconfig',
    cluster.kubeconfig,
  ]);
  ok(last);
  expect(kills).toBeGreaterThan(0);
  expect(made).toEqual([...new Set(made)]);
  for (const host of [second, damaged]) expect(await hashes(host)).toBe(await hashes(first));
  await expectSettled(cluster, HOSTS);
});

test('kubeconfigs of administrators that all control planes have lost are made again, also when kbuild is killed at every change', async () => {
  const files = '/etc/kubernetes/admin.conf /etc/kubernetes/super-admin.conf';
  for (const host of HOSTS) await lab.inside(host, `rm -f ${files}`);
  const { last, kills, made } = await killedAtChanges([
    'up',
    cluster.file,
    '--yes',
    '--kubeconfig',
    cluster.kubeconfig,
  ]);
  ok(last);
  // Hosts make theirs at the same time, and go on when kbuild is killed.
  expect(kills).toBeGreaterThan(0);
  for (const host of HOSTS) expect((await lab.inside(host, 'test -s /etc/kubernetes/admin.conf')).code, host).toBe(0);
  expect(made).toEqual([...new Set(made)]);
  await expectSettled(cluster, HOSTS);
});

test('a key that no control plane has is a warning, and a backup is refused', async () => {
  for (const host of HOSTS) await lab.inside(host, `mv ${KEYS[3]!} /root/kept.key`);
  const { stdout } = await cluster.run('check');
  expect(stdout).toContain('no other control plane has it');
  const backup = await cluster.run(
    'backup',
    '--to',
    'command:cat >/dev/null',
    '--recipient',
    'age1ql3z7hjy54pw3hyww5ayyfg7zqgvc7w3j2elw8zmrj2kg5sfn9aqmcac8p',
  );
  expect(backup.code, backup.stderr).toBe(7);
  expect(backup.stderr).toContain('/etc/kubernetes/pki has no front-proxy-ca.key');
  await lab.inside(first, `mv /root/kept.key ${KEYS[3]!}`);
  ok(await cluster.up());
  expect(await hashes(damaged)).toBe(await hashes(first));
});

test('a member that cannot read its data is removed and joins with empty data, with a kill at every change, and no write is lost', async () => {
  await kubectl(first, 'create configmap kept');
  const writer = startWriter(cluster.kubeconfig);
  await lab.inside(
    damaged,
    `db=/var/lib/etcd/member/snap/db; dd if=/dev/urandom of=$db bs=4096 seek=0 count=$(($(stat -c %s $db) / 4096)) conv=notrunc status=none; pkill -KILL -x etcd`,
  );
  await waitUntil('status shows it', 300_000, async () => (await membersOf(cluster)).includes(`${damaged} down`));
  const removed = await killedAtChanges(['remove', damaged, '--yes', '-i', cluster.file]);
  ok(removed.last);
  expect(removed.kills).toBeGreaterThan(1);
  expect(await membersOf(cluster)).toEqual([first, second]);
  const joined = await killedAtChanges(['up', cluster.file, '--yes', '--kubeconfig', cluster.kubeconfig]);
  ok(joined.last);
  expect(joined.kills).toBeGreaterThan(2);
  const { lost, acknowledged, longestGapMs } = await writer.stop();
  console.log(`${String(acknowledged)} writes, ${String(lost.length)} lost, longest gap ${String(longestGapMs)} ms`);
  expect(lost).toEqual([]);
  expect(await membersOf(cluster)).toEqual(HOSTS);
  expect(await nodes(damaged)).toEqual(Object.fromEntries(HOSTS.map((host) => [host, true])));
  expect(await kubectl(damaged, 'get configmaps -o name')).toContain('configmap/kept');
  await expectSettled(cluster, HOSTS);
});

test('afterwards a control plane and a worker more can join', async () => {
  await expectJoins(cluster, HOSTS, LATER);
});
