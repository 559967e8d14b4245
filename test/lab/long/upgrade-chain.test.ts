/** Three minors in one command: three control planes and two workers go from 1.34 to 1.37 under load. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { eventsOf } from '../kbuild.ts';
import * as lab from '../lab.ts';
import { ok, unchanged } from '../ok.ts';
import { membersOf, stacked, type Stacked } from '../stacked.ts';
import {
  changesOf,
  leftOnNodes,
  nameVersion,
  plannedChanges,
  startWorkload,
  upgradeUnderLoad,
  versionsOf,
  type UnderLoad,
} from '../upgraded.ts';
import { newestOf } from '../versions.ts';

const CONTROL_PLANES = ['chcp1', 'chcp2', 'chcp3'];
const WORKERS = ['chw1', 'chw2'];
const HOSTS = [...CONTROL_PLANES, ...WORKERS];
const [FIRST, NEXT, THEN, LAST] = ['1.34', '1.35', '1.36', '1.37'].map(newestOf) as [string, string, string, string];
const HOUR = 3_600_000;
/** kubeadm up to 1.34 writes it, only kubeadm 1.35 takes it away, and no kubelet since 1.35 starts with it. */
const REMOVED_FLAG = '--pod-infra-container-image';
const flagsOf = async (host: string): Promise<string> =>
  (await lab.inside(host, 'cat /var/lib/kubelet/kubeadm-flags.env')).stdout;

let cluster: Stacked;
let planned: readonly string[];
let upgraded: UnderLoad;

beforeAll(async () => {
  cluster = await stacked('chain', 7612, HOSTS);
  await nameVersion(cluster, HOSTS, FIRST);
  ok(await cluster.up());
  await startWorkload('chcp1');
  await nameVersion(cluster, HOSTS, LAST);
});
afterAll(async () => {
  cluster.balancer.close();
  await lab.down(HOSTS);
});

test('its workers have a flag that no newer kubelet knows', async () => {
  for (const worker of WORKERS) expect(await flagsOf(worker), worker).toContain(REMOVED_FLAG);
});

test('the plan goes through the newest version of each minor that the repository has', async () => {
  const { stdout } = ok(await cluster.run('upgrade', '--plan'));
  expect(stdout).toContain(`Kubernetes ${FIRST} → ${NEXT} → ${THEN} → ${LAST}`);
  planned = await plannedChanges(cluster);
});

test('one command does what was planned, and clients lose no acknowledged write', { timeout: 2 * HOUR }, async () => {
  upgraded = await upgradeUnderLoad(cluster, 'chcp1');
  expect(eventsOf(upgraded.ran).filter(({ kind }) => kind === 'unplanned')).toEqual([]);
  expect(changesOf(upgraded.ran).toSorted()).toEqual(planned.toSorted());
  expect(upgraded.written.lost).toEqual([]);
  expect(upgraded.written.longestGapMs).toBeLessThanOrEqual(10_000);
  expect(upgraded.serviceGapMs).toBeLessThanOrEqual(10_000);
});

test('each worker is drained once, each control plane once for each minor', () => {
  const drains = eventsOf(upgraded.ran).flatMap((event) =>
    event.kind === 'changed' && event.step === 'drained' ? [event.host] : [],
  );
  const times = (host: string): number => drains.filter((one) => one === host).length;
  expect(WORKERS.map(times)).toEqual([1, 1]);
  expect(CONTROL_PLANES.map(times)).toEqual([3, 3, 3]);
});

test('everything has the last version, and nothing of the upgrade is left', async () => {
  const version = [`v${LAST}`];
  expect(await versionsOf('chcp1')).toMatchObject({
    ...{ kubelet: version, apiServer: version, controllerManager: version, scheduler: version, kubeProxy: version },
    etcd: ['3.7.0-0'],
  });
  expect(await membersOf(cluster)).toEqual(CONTROL_PLANES);
  expect(await leftOnNodes('chcp1')).toEqual([]);
  for (const host of HOSTS) expect(await flagsOf(host), host).not.toContain(REMOVED_FLAG);
});

test('there is nothing to upgrade again, and nothing for up to do', async () => {
  unchanged(await cluster.run('upgrade'));
  unchanged(await cluster.up());
});
