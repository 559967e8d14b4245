/**
 * Room in etcd: a small quota is filled until the alarm NOSPACE, and `kbuild etcd defragment` brings the cluster back, on one
 * control plane and on three, the leader last, also without an API server and after a kill. The tests build on each other.
 */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { start, type Ran } from '../kbuild.ts';
import * as lab from '../lab.ts';
import { expectJoins, expectSettled } from '../lives-on.ts';
import { ok, timed, unchanged } from '../ok.ts';
import { kubectl, nodes } from '../pods.ts';
import { etcdctl, etcdOf, membersOf, stacked, type Stacked } from '../stacked.ts';
import { waitUntil } from '../wait-until.ts';

const HOSTS = ['dfcp1', 'dfcp2', 'dfcp3'];
const LATER = ['dfcp4', 'dfw1'];
const MIB = 1024 ** 2;
const QUOTA = 32 * MIB;
const API_SERVER = '/etc/kubernetes/manifests/kube-apiserver.yaml';
const ETCD = '/etc/kubernetes/manifests/etcd.yaml';
let cluster: Stacked;
let written = 0;

/** What `kbuild etcd defragment --json` prints. */
interface Defragmented {
  readonly alarms: { readonly before: readonly string[]; readonly after: readonly string[] };
  readonly members: readonly {
    readonly name: string;
    readonly defragmented: boolean;
    readonly dbSizeBefore: number;
    readonly dbSize: number;
    readonly dbSizeInUse: number;
    readonly dbSizeQuota: number;
  }[];
}

const defragment = (...flags: readonly string[]): Promise<Ran> => cluster.run('etcd', 'defragment', '--yes', ...flags);
/** The members that a run began to defragment, in order. */
const orderOf = ({ stderr }: Ran): readonly string[] =>
  [...stderr.matchAll(/(\S+): defragment etcd \(.*\) …\n/g)].map(([, host]) => host!);
const alarms = (): Promise<string> => etcdctl('dfcp1', 'alarm list');

/** Writes a ConfigMap of 0.9 MiB again and again: each write is a revision, until etcd takes no more, or `times`. */
async function fill(times = 80): Promise<void> {
  for (let i = 0; i < times; i++) {
    written += 1;
    const object = {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: 'filler' },
      data: { n: String(written), filling: 'x'.repeat(0.9 * MIB) },
    };
    try {
      const verb = written === 1 ? 'create' : 'replace';
      await kubectl('dfcp1', `${verb} -f -`, JSON.stringify(object));
    } catch (error) {
      if (!String(error).includes('database space exceeded')) throw error;
      return;
    }
  }
  if (times === 80) throw new Error(`etcd is not full after ${String(times)} writes`);
}

/** A run brought the cluster back: no alarm, sizes below the quota, a write, and nothing for `up` to change. */
async function takesWrites(name: string): Promise<void> {
  expect(await alarms()).toBe('');
  await kubectl('dfcp1', `create configmap ${name}`);
  // Exit 10 with a change. What `up` would only wait for is none: components that lost their leases under the alarm start again, and
  // an API server that had to wait for etcd may answer late at first.
  await waitUntil('nothing is to change', 300_000, async () => {
    const { code } = await cluster.run('plan', '--detailed-exitcode');
    expect(code).not.toBe(10);
    return code === 0 ? true : undefined;
  });
}

beforeAll(async () => {
  await lab.up(HOSTS);
  const plain = await lab.inventory(HOSTS);
  const quota = { name: 'quota-backend-bytes', value: String(QUOTA) };
  cluster = await stacked('defrag', 7505, HOSTS, {
    kubeadm: { ...(plain['kubeadm'] as object), cluster: { etcd: { local: { extraArgs: [quota] } } } },
  });
});
afterAll(async () => {
  cluster.balancer.close();
  await lab.down([...HOSTS, ...LATER]);
});

test('one control plane with a small quota is built; there is nothing to reclaim', async () => {
  await cluster.name(['dfcp1']);
  timed('1 control plane', await cluster.up());
  unchanged(await defragment());
  const all = timed('--all', await defragment('--all', '--json'));
  const { members } = JSON.parse(all.stdout) as Defragmented;
  expect(members).toMatchObject([{ name: 'dfcp1', defragmented: true, dbSizeQuota: QUOTA }]);
});

test('when the quota is reached nothing can be written, and check, status and up name the command', async () => {
  await fill();
  expect(await alarms()).toContain('alarm:NOSPACE');
  const check = await cluster.run('check');
  expect(check.stdout + check.stderr).toMatch(/etcd is full and takes no writes[^]*kbuild etcd defragment/);
  const { stdout } = await cluster.run('status');
  expect(stdout).toMatch(/etcd has an alarm: NOSPACE[^]*`kbuild etcd defragment`/);
  // Under its alarm etcd serves: its member is no problem of its own.
  expect(stdout).not.toContain('its etcd member is not healthy');
  const up = await cluster.up();
  expect(up.code, up.stderr).toBe(6);
});

test('a snapshot can be saved under the alarm, and the command brings the cluster back', async () => {
  ok(await cluster.run('etcd', 'snapshot', 'save'));
  const ran = timed('defragmented under NOSPACE, 1 control plane', await defragment('--json'));
  const { alarms: said, members } = JSON.parse(ran.stdout) as Defragmented;
  expect(said.before).toHaveLength(1);
  expect(said.after).toEqual([]);
  expect(members[0]!.dbSizeBefore).toBeGreaterThan(0.9 * QUOTA);
  expect(members[0]!.dbSize).toBeLessThan(QUOTA / 2);
  await takesWrites('after-one');
  expect(await etcdctl('dfcp1', 'get --prefix kbuild/ --keys-only')).toBe('');
});

test('without an API server it works as well', async () => {
  await fill();
  await lab.inside('dfcp1', `mv ${API_SERVER} /root/`);
  await waitUntil('the API server has stopped', 120_000, async () =>
    (await lab.inside('dfcp1', 'pgrep -x kube-apiserver')).stdout === '' ? true : undefined,
  );
  const ran = timed('defragmented under NOSPACE, without an API', await defragment());
  expect(ran.stdout).toContain('the alarm NOSPACE is disarmed, and etcd takes writes again');
  await lab.inside('dfcp1', `mv /root/kube-apiserver.yaml ${API_SERVER}`);
  await waitUntil('the API serves', 180_000, async () =>
    kubectl('dfcp1', 'get --raw /readyz').then(
      () => true as const,
      () => undefined,
    ),
  );
  await takesWrites('after-no-api');
});

test('of three members, the leader is the last', async () => {
  await cluster.name(HOSTS);
  timed('1 → 3', await cluster.up());
  const { leader } = await etcdOf(cluster);
  const ran = timed('--all, 3 members', await defragment('--all'));
  const order = orderOf(ran);
  expect([...order].sort()).toEqual(HOSTS);
  expect(order.at(-1)).toBe(leader);
  expect(await membersOf(cluster)).toEqual(HOSTS);
});

test('while a member is down, none is defragmented', async () => {
  await lab.inside('dfcp3', `mv ${ETCD} /root/`);
  await waitUntil('etcd of dfcp3 has stopped', 120_000, async () =>
    (await lab.inside('dfcp3', 'pgrep -x etcd')).stdout === '' ? true : undefined,
  );
  const { code, stderr } = await defragment('--all');
  expect(code, stderr).toBe(7);
  expect(stderr).toMatch(/dfcp3 is not healthy \(2 of 3 voters healthy, quorum 2\)/);
  expect(stderr).not.toContain('defragment etcd (');
  await lab.inside('dfcp3', `mv /root/etcd.yaml ${ETCD}`);
  await waitUntil('all members are healthy', 180_000, async () =>
    (await membersOf(cluster).catch(() => [])).join() === HOSTS.join() ? true : undefined,
  );
});

test('killed after its first member, the same command finishes, and disarms the alarm at the end', async () => {
  await fill();
  const killed = start(['etcd', 'defragment', '--yes', '-i', cluster.file]);
  await waitUntil('a member is defragmented', 300_000, () => /defragment etcd \(.*\): done/.test(killed.said()));
  killed.kill('SIGKILL');
  const first = await killed.ended;
  expect(first.code).toBeNull();
  expect(await alarms()).toContain('alarm:NOSPACE');
  const ran = timed('the same command, 3 members', await defragment('--json'));
  const { members, alarms: said } = JSON.parse(ran.stdout) as Defragmented;
  expect(said.after).toEqual([]);
  for (const { dbSize } of members) expect(dbSize).toBeLessThan(QUOTA / 2);
  await takesWrites('after-kill');
  expect(await membersOf(cluster)).toEqual(HOSTS);
  expect(await nodes('dfcp2')).toEqual({ dfcp1: true, dfcp2: true, dfcp3: true });
  await expectSettled(cluster, HOSTS);
});

test('when data, and no old revisions, fills the quota, the setting that raises it is named', async () => {
  // Keys of their own, which no compaction removes.
  await lab.inside('dfcp1', 'head -c 100000 /dev/zero | tr "\\0" x >/root/filling');
  let keys = 0;
  const fillWithData = async (): Promise<void> => {
    for (; keys < 600 && !(await alarms()).includes('NOSPACE'); keys++)
      await etcdctl('dfcp1', `put lab/filling-${String(keys)} -- "$(cat /root/filling)" >/dev/null 2>&1 || true`);
    expect(await alarms()).toContain('NOSPACE');
  };
  await fillWithData();
  // Free pages from before filled a part of the quota; now data fills it.
  ok(await defragment());
  await fillWithData();
  // Whether the last old revisions made room for one more write is chance: 5 if not.
  const { code, stderr } = await defragment();
  expect([0, 5], stderr).toContain(code);
  expect(stderr).toContain('`quota-backend-bytes` in `kubeadm.cluster.etcd.local.extraArgs`');
  await etcdctl('dfcp1', 'del --prefix lab/');
  // The deleted keys are old revisions until the next compaction: this fills the rest.
  await fill(10);
  expect(await alarms()).toContain('NOSPACE');
  timed('after keys were deleted', await defragment());
  await takesWrites('after-data');
});

test('afterwards a control plane and a worker can join', async () => {
  await expectJoins(cluster, HOSTS, LATER);
});
