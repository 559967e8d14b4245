/** An upgrade with an etcd of three members on hosts of its own, in two maintenance windows. The tests build on each other. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { eventsOf } from '../kbuild.ts';
import * as lab from '../lab.ts';
import { ok, unchanged } from '../ok.ts';
import { membersOf, stacked, type Stacked } from '../stacked.ts';
import { changesOf, leftOnNodes, nameVersion, startWorkload, upgradeUnderLoad, versionsOf } from '../upgraded.ts';
import { KUBERNETES } from '../versions.ts';

const ETCD = ['uxetcd1', 'uxetcd2', 'uxetcd3'];
const WORKERS = ['uxw1', 'uxw2'];
const CP = 'uxcp1';
const HOSTS = [CP, ...ETCD, ...WORKERS];
const HOUR = 3_600_000;
const [OLD, NEW] = KUBERNETES;
let cluster: Stacked;

/** The versions of etcd that its members serve. The port of metrics serves no `/version`. */
const etcdVersions = async (): Promise<readonly (string | undefined)[]> =>
  Promise.all(
    ETCD.map(async (host) => {
      const { stdout } = await lab.inside(host, 'curl -fsS http://127.0.0.1:2381/metrics');
      return /^etcd_server_version\{server_version="([^"]+)"\} 1$/m.exec(stdout)?.[1];
    }),
  );

beforeAll(async () => {
  cluster = await stacked('etcdup', 7613, HOSTS, { etcd: { topology: 'external' } });
  ok(await cluster.up());
  await startWorkload(CP);
  await nameVersion(cluster, HOSTS, NEW.version);
});
afterAll(async () => {
  cluster.balancer.close();
  await lab.down(HOSTS);
});

test('with a member down, no other member is touched', async () => {
  const [, , last] = ETCD as [string, string, string];
  await lab.kill([last]);
  const { code, stderr } = await cluster.run('upgrade', '--yes');
  expect(code, stderr).not.toBe(0);
  await lab.start([last]);
  expect((await versionsOf(CP))['apiServer']).toEqual([`v${OLD.version}`]);
});

test(
  'the control plane alone: etcd member by member, and no acknowledged write is lost',
  { timeout: HOUR },
  async () => {
    const { ran, written } = await upgradeUnderLoad(cluster, CP, ['--control-plane-only']);
    expect(written.lost).toEqual([]);
    const spans = eventsOf(ran).flatMap((event) =>
      (event.kind === 'changing' || event.kind === 'changed') && event.step === 'etcd-upgraded'
        ? [`${event.kind} ${event.host}`]
        : [],
    );
    expect(spans).toEqual(ETCD.flatMap((host) => [`changing ${host}`, `changed ${host}`]));
    expect(await etcdVersions()).toEqual(ETCD.map(() => NEW.etcd));
    expect(await membersOf(cluster)).toEqual(ETCD);
    const versions = await versionsOf(CP);
    expect(versions['apiServer']).toEqual([`v${NEW.version}`]);
    expect(versions['kubelet']).toEqual([`v${OLD.version}`, `v${NEW.version}`]);
  },
);

test('the workers alone, later', { timeout: HOUR }, async () => {
  const { ran, written } = await upgradeUnderLoad(cluster, CP, ['--workers-only', '--max-unavailable', '2']);
  expect(written.lost).toEqual([]);
  expect(changesOf(ran).filter((change) => change.endsWith('control-plane-upgraded'))).toEqual([]);
  expect((await versionsOf(CP))['kubelet']).toEqual([`v${NEW.version}`]);
  expect(await leftOnNodes(CP)).toEqual([]);
  unchanged(await cluster.run('upgrade'));
  unchanged(await cluster.up());
});
