/** An etcd that kbuild builds on a host of its own, the smallest: built, left alone, its certificates renewed, torn down. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { daysLeft, daysServed, shorten } from '../etcd-leaf.ts';
import { eventsOf } from '../kbuild.ts';
import * as lab from '../lab.ts';
import { ok, timed, unchanged } from '../ok.ts';
import { nodes } from '../pods.ts';
import { membersOf, stacked, type Stacked } from '../stacked.ts';

const [ETCD, CONTROL] = ['eesetcd1', 'eescp1'] as const;
let cluster: Stacked;

beforeAll(async () => {
  cluster = await stacked('eesmall', 7462, [ETCD, CONTROL], { etcd: { topology: 'external' } });
});
afterAll(async () => {
  cluster.balancer.close();
  await lab.down([ETCD, CONTROL]);
});

test('a member and a control plane are built by one run, as planned', async () => {
  const ran = timed('1 etcd + 1 control plane', await cluster.up('--json'));
  expect(eventsOf(ran).filter(({ kind }) => kind === 'unplanned')).toEqual([]);
  expect(await membersOf(cluster)).toEqual([ETCD]);
  expect(await nodes(CONTROL)).toEqual({ [CONTROL]: true });
  unchanged(timed('second run', await cluster.up()));
});

test("the key of etcd's authority is where etcd is, and nowhere else", async () => {
  const find = 'find / -xdev -name ca.key -path "*etcd*" -exec stat -c "%a %n" {} +';
  expect((await lab.inside(ETCD, find)).stdout).toBe('600 /etc/kubernetes/pki/etcd/ca.key\n');
  expect((await lab.inside(CONTROL, find)).stdout).toBe('');
});

test('certificates that run out in 10 days are renewed, and used without a restart', async () => {
  await shorten(ETCD, 'etcd/server', 10, ETCD);
  await shorten(CONTROL, 'apiserver-etcd-client', 10, ETCD);
  expect(await daysServed(ETCD)).toBe(9);
  timed('two certificates renewed', await cluster.up());
  expect(await daysServed(ETCD)).toBeGreaterThan(300);
  expect(await daysLeft(CONTROL, 'apiserver-etcd-client')).toBeGreaterThan(300);
  // A busy machine may still have to wait for the API server, but nothing is changed again.
  expect(eventsOf(ok(await cluster.up('--json'))).filter(({ kind }) => kind === 'changed')).toEqual([]);
});

test('reset takes etcd with its data', async () => {
  timed('reset', await cluster.run('reset', '--yes-destroy', 'eesmall'));
  const { stdout } = await lab.inside(
    ETCD,
    'find /var/lib/etcd /etc/kubernetes /etc/systemd/system/kubelet.service.d -type f 2>/dev/null',
  );
  expect(stdout).toBe('');
});
