/** One control plane and one worker go to the next minor: planned, done while clients write, nothing left, nothing to do again. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { eventsOf, start } from '../kbuild.ts';
import * as lab from '../lab.ts';
import { ok, timed, unchanged } from '../ok.ts';
import { startWriter } from '../api-writer.ts';
import { membersOf, stacked, type Stacked } from '../stacked.ts';
import { changesOf, leftOnNodes, nameVersion, plannedChanges, upgradeArguments, versionsOf } from '../upgraded.ts';
import { KUBERNETES } from '../versions.ts';

const [cp, worker] = ['uccp1', 'ucw1'] as const;
const HOSTS = [cp, worker];
const [OLD, NEW] = KUBERNETES;
let cluster: Stacked;

beforeAll(async () => {
  cluster = await stacked('core-upgrade', 7702, HOSTS, {}, { prepared: HOSTS });
  ok(await cluster.up());
  await nameVersion(cluster, HOSTS, NEW.version);
});
afterAll(async () => {
  cluster.balancer.close();
  await lab.down(HOSTS);
});

test('up says that an upgrade is due, and changes nothing because of it', async () => {
  const { stderr } = unchanged(await cluster.up());
  expect(stderr).toContain(`the cluster runs Kubernetes ${OLD.version}, the inventory names ${NEW.version}`);
});

test('the upgrade does what was planned, and no acknowledged write is lost', async () => {
  const planned = await plannedChanges(cluster);
  expect((await versionsOf(cp))['apiServer']).toEqual([`v${OLD.version}`]);
  const writer = startWriter(cluster.kubeconfig);
  const ran = await start(upgradeArguments(cluster)).ended;
  const { acknowledged, lost } = await writer.stop();
  timed('upgrade of 1 + 1', ran);
  expect(eventsOf(ran).filter(({ kind }) => kind === 'unplanned')).toEqual([]);
  expect(changesOf(ran).toSorted()).toEqual(planned.toSorted());
  expect(acknowledged).toBeGreaterThan(0);
  expect(lost).toEqual([]);
});

test('everything has the new version, and nothing of the upgrade is left', async () => {
  const version = [`v${NEW.version}`];
  expect(await versionsOf(cp)).toEqual({
    ...{ kubelet: version, apiServer: version, controllerManager: version, scheduler: version, kubeProxy: version },
    etcd: [`${NEW.etcd}-0`],
  });
  expect(await membersOf(cluster)).toEqual([cp]);
  expect(await leftOnNodes(cp)).toEqual([]);
  for (const host of HOSTS) {
    const left = await lab.inside(host, 'ls /var/lib/kbuild/upgrade /var/lib/kbuild/marker.json 2>/dev/null; true');
    expect(left.stdout, host).toBe('');
  }
});

test('there is nothing to upgrade again, and nothing for up to do', async () => {
  unchanged(await cluster.run('upgrade'));
  unchanged(await cluster.up());
});

test('a downgrade is refused', async () => {
  await nameVersion(cluster, HOSTS, OLD.version);
  const { code, stderr } = await cluster.run('upgrade');
  expect(code, stderr).toBe(7);
  expect(stderr).toContain(`kubernetes.version is ${OLD.version}`);
});
