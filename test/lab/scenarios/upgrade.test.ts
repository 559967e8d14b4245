/**
 * One hop of three control planes and two workers behind kbuild's own load balancers: planned, done under load, nothing left, nothing
 * to do again.
 */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { eventsOf } from '../kbuild.ts';
import { unmetExpectations } from '../kubeadm-expectations.ts';
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
import { KUBERNETES } from '../versions.ts';

const HOSTS = ['ugcp1', 'ugcp2', 'ugcp3', 'ugw1', 'ugw2'];
const [OLD, NEW] = KUBERNETES;
let cluster: Stacked;
let planned: readonly string[];
let upgraded: UnderLoad;
const HOUR = 3_600_000;
const CONTROLS = HOSTS.slice(0, 3);
const VIRTUAL = { address: '10.77.0.231', port: 8443 };

const wanted = (version: string): Promise<void> => nameVersion(cluster, HOSTS, version);

beforeAll(async () => {
  cluster = await stacked('upgrade', 7611, HOSTS, {}, { virtual: VIRTUAL, prepared: HOSTS });
  ok(await cluster.up());
  await startWorkload('ugcp1');
  await wanted(NEW.version);
});
afterAll(async () => {
  cluster.balancer.close();
  await lab.down(HOSTS);
});

test('up says that an upgrade is due, and changes nothing because of it', async () => {
  const { stderr } = unchanged(await cluster.up());
  expect(stderr).toContain(`the cluster runs Kubernetes ${OLD.version}, the inventory names ${NEW.version}`);
});

test('the plan names hops, hosts in their order and restarts, and changes nothing', async () => {
  const { stdout } = ok(await cluster.run('upgrade', '--plan'));
  expect(stdout).toContain(`Kubernetes ${OLD.version} → ${NEW.version}`);
  expect(stdout).toContain('ugcp1, ugcp2, ugcp3: bring etcd of HOST to 3.6.11');
  expect(stdout).toContain(`upgrade the control plane of HOST from ${OLD.version} to ${NEW.version}`);
  expect(stdout).toMatch(/API server of ugcp1, ugcp2, ugcp3, one after another/);
  planned = await plannedChanges(cluster);
  expect((await versionsOf('ugcp1'))['apiServer']).toEqual([`v${OLD.version}`]);
});

test('the upgrade does what was planned, and no acknowledged write is lost meanwhile', { timeout: HOUR }, async () => {
  upgraded = await upgradeUnderLoad(cluster, 'ugcp1');
  expect(eventsOf(upgraded.ran).filter(({ kind }) => kind === 'unplanned')).toEqual([]);
  expect(changesOf(upgraded.ran).toSorted()).toEqual(planned.toSorted());
  expect(upgraded.written.acknowledged).toBeGreaterThan(0);
  expect(upgraded.written.lost).toEqual([]);
});

test('control planes go one after another, and the second worker only when the first takes pods again', () => {
  const spans = (step: string): readonly string[] =>
    eventsOf(upgraded.ran).flatMap((event) =>
      (event.kind === 'changing' || event.kind === 'changed') && event.step === step
        ? [`${event.kind} ${event.host}`]
        : [],
    );
  const one = (host: string): readonly string[] => [`changing ${host}`, `changed ${host}`];
  expect(spans('control-plane-upgraded')).toEqual(['ugcp1', 'ugcp2', 'ugcp3'].flatMap(one));
  expect(spans('etcd-minimum')).toEqual(['ugcp1', 'ugcp2', 'ugcp3'].flatMap(one));
  const workers = eventsOf(upgraded.ran).flatMap((event) =>
    event.kind === 'changed' && event.host.startsWith('ugw') && ['drained', 'uncordoned'].includes(event.step)
      ? [`${event.host} ${event.step}`]
      : [],
  );
  expect(workers).toEqual(['ugw1 drained', 'ugw1 uncordoned', 'ugw2 drained', 'ugw2 uncordoned']);
});

test('no load balancer leads to a control plane while its etcd or its API server restarts, and to all of them afterwards', async () => {
  const restarts = ['etcd-minimum', 'control-plane-upgraded', 'kubelet-upgraded'];
  const out = new Set<string>();
  for (const event of eventsOf(upgraded.ran)) {
    if (event.kind === 'changed' && event.step === 'out-of-balancers') out.add(event.host);
    if (event.kind === 'changing' && event.step === 'back-in-balancers') out.delete(event.host);
    if (event.kind === 'changing' && CONTROLS.includes(event.host) && restarts.includes(event.step))
      expect([...out], `${event.step} on ${event.host}`).toEqual([event.host]);
  }
  expect([...out]).toEqual([]);
  const servers = 'echo "show servers state api-servers" | socat - UNIX-CONNECT:/run/kbuild-haproxy.sock';
  for (const host of CONTROLS) {
    const { stdout } = await lab.inside(host, servers);
    // Name, state (2: it runs) and administrative state (0: none).
    const found = stdout
      .split('\n')
      .flatMap((line) => (/^\d+ api-servers/.test(line) ? [line.split(' ').slice(3, 7)] : []));
    expect(found.map(([name, , state, drained]) => [name, state, drained])).toEqual(
      CONTROLS.map((name) => [name, '2', '0']),
    );
  }
});

test('everything has the new version, and nothing of the upgrade is left', async () => {
  const version = [`v${NEW.version}`];
  expect(await versionsOf('ugcp1')).toEqual({
    ...{ kubelet: version, apiServer: version, controllerManager: version, scheduler: version, kubeProxy: version },
    etcd: [`${NEW.etcd}-0`],
  });
  expect(await membersOf(cluster)).toEqual(['ugcp1', 'ugcp2', 'ugcp3']);
  expect(await leftOnNodes('ugcp1')).toEqual([]);
  for (const host of HOSTS) {
    const { stdout } = await lab.inside(
      host,
      'ls /var/lib/kbuild/upgrade /var/lib/kbuild/marker.json 2>/dev/null; true',
    );
    expect(stdout, host).toBe('');
  }
});

test("the cluster is what kubeadm's own tests expect of one", async () => {
  expect(await unmetExpectations(['ugcp1', 'ugcp2', 'ugcp3'])).toEqual([]);
});

test('there is nothing to upgrade again, and nothing for up to do', async () => {
  unchanged(await cluster.run('upgrade'));
  unchanged(await cluster.up());
});

test('a downgrade is refused', async () => {
  await wanted(OLD.version);
  for (const command of [['upgrade'], ['plan']]) {
    const { code, stderr } = await cluster.run(...command);
    expect(code, stderr).toBe(7);
    expect(stderr).toContain(`kubernetes.version is ${OLD.version}`);
  }
});
