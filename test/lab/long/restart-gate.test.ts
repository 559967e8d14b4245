/**
 * Two control planes of which the other one cannot take over: kbuild waits or ends with the reason, restarts nothing, and the same command
 * upgrades them when that is mended.
 */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { kbuild, start, type Running } from '../kbuild.ts';
import * as lab from '../lab.ts';
import { happened, inside } from '../midway.ts';
import { ok, unchanged } from '../ok.ts';
import { kubectl } from '../pods.ts';
import { stacked, type Stacked } from '../stacked.ts';
import { leftOnNodes, nameVersion, upgradeArguments, versionsOf } from '../upgraded.ts';
import { KUBERNETES } from '../versions.ts';
import { waitUntil } from '../wait-until.ts';

const HOSTS = ['rgcp1', 'rgcp2'];
const [cp1, cp2] = HOSTS as [string, string];
const [OLD, NEW] = KUBERNETES;
const MINUTES_MS = 5 * 60_000;
const SCHEDULER = '/etc/kubernetes/manifests/kube-scheduler.yaml';
let cluster: Stacked;

const manifests = (): Promise<readonly string[]> =>
  Promise.all(HOSTS.map((host) => inside(host, 'sha256sum /etc/kubernetes/manifests/*')));

/** Returns when as many schedulers are ready. */
const schedulers = (count: number): Promise<unknown> =>
  waitUntil(`${String(count)} schedulers to be ready`, MINUTES_MS, async () => {
    const ready = await kubectl(
      cp1,
      `-n kube-system get pods -l component=kube-scheduler -o jsonpath='{.items[*].status.containerStatuses[0].ready}'`,
    );
    return ready.split(' ').filter((one) => one === 'true').length === count;
  });

beforeAll(async () => {
  cluster = await stacked('gate', 7619, HOSTS);
  await nameVersion(cluster, HOSTS, OLD.version);
  ok(await cluster.up());
  await nameVersion(cluster, HOSTS, NEW.version);
});
afterAll(async () => {
  cluster.balancer.close();
  await lab.down(HOSTS);
});

test('a lease that no scheduler renews ends the run before a control plane restarts, and is named with its holder and its age', async () => {
  const spec = { holderIdentity: 'gone_1', leaseDurationSeconds: 36_000, renewTime: new Date().toISOString() };
  await kubectl(
    cp1,
    `-n kube-system patch lease kube-scheduler --type merge -p '${JSON.stringify({ spec: { ...spec, renewTime: spec.renewTime.replace('Z', '000Z') } })}'`,
  );
  // Its holder until now ends within 10 s, and starts again.
  await new Promise((resolve) => setTimeout(resolve, 20_000));
  await schedulers(2);
  const before = await manifests();
  const { code, stderr } = await kbuild(...upgradeArguments(cluster));
  expect(code, stderr).toBe(5);
  expect(stderr).toMatch(
    /the lease kube-system\/kube-scheduler renewed \(found: not for the \d{3} s that it was watched, last at 20\S+, \d+ s ago by the clock of rgcp2; holder gone_1\)/,
  );
  expect(stderr).toContain(`${cp1} was left as it is`);
  expect(await manifests()).toEqual(before);
  await kubectl(cp1, '-n kube-system delete lease kube-scheduler');
});

test('a scheduler that crashes on the other control plane is named and waited for; when it is mended, the run ends the upgrade', async () => {
  await inside(cp2, `cp -p ${SCHEDULER} /root/ && sed -i 's/- kube-scheduler$/&\\n    - --no-such-flag/' ${SCHEDULER}`);
  await schedulers(1);
  const before = await manifests();
  const running: Running = start(upgradeArguments(cluster));
  await happened(running, 'settling', cp1, 'control-planes-ready', `found ${cp2}: its kube-scheduler: `);
  expect(await manifests()).toEqual(before);
  await inside(cp2, `mv /root/kube-scheduler.yaml ${SCHEDULER}`);
  ok(await running.ended);
  const version = [`v${NEW.version}`];
  expect(await versionsOf(cp1)).toMatchObject({
    ...{ kubelet: version, apiServer: version, controllerManager: version, scheduler: version },
  });
  expect(await leftOnNodes(cp1)).toEqual([]);
  unchanged(await cluster.run('upgrade'));
});
