/** A patch of the same minor: one control plane and two workers go from 1.36.3 to 1.36.4. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import * as lab from '../lab.ts';
import { ok, unchanged } from '../ok.ts';
import { stacked, type Stacked } from '../stacked.ts';
import {
  changesOf,
  leftOnNodes,
  nameVersion,
  plannedChanges,
  startWorkload,
  upgradeUnderLoad,
  versionsOf,
} from '../upgraded.ts';
import { KUBERNETES, newestOf } from '../versions.ts';

// With one worker, the budget of the workload would keep both of its pods there.
const HOSTS = ['upcp1', 'upw1', 'upw2'];
const OLD = KUBERNETES[0].version;
const NEW = newestOf('1.36');
const HALF_AN_HOUR = 30 * 60_000;
let cluster: Stacked;
let etcd: unknown;

beforeAll(async () => {
  if (NEW === OLD) throw new TypeError('the lab has one patch of Kubernetes 1.36: set KBUILD_LAB_VERSIONS=all');
  cluster = await stacked('patch', 7618, HOSTS);
  await nameVersion(cluster, HOSTS, OLD);
  ok(await cluster.up());
  await startWorkload('upcp1');
  etcd = (await versionsOf('upcp1'))['etcd'];
  await nameVersion(cluster, HOSTS, NEW);
});
afterAll(async () => {
  cluster.balancer.close();
  await lab.down(HOSTS);
});

test('what was planned is done, and etcd stays', { timeout: HALF_AN_HOUR }, async () => {
  const planned = await plannedChanges(cluster);
  const { ran } = await upgradeUnderLoad(cluster, 'upcp1');
  expect(changesOf(ran).toSorted()).toEqual(planned.toSorted());
  const version = [`v${NEW}`];
  const now = await versionsOf('upcp1');
  expect(now).toMatchObject({ kubelet: version, apiServer: version, controllerManager: version, scheduler: version });
  expect(now['etcd']).toEqual(etcd);
  expect(await leftOnNodes('upcp1')).toEqual([]);
});

test('there is nothing to do afterwards', async () => {
  unchanged(await cluster.run('upgrade'));
  unchanged(await cluster.up());
});
