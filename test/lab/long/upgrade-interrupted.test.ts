/**
 * What may come between while control planes are upgraded, one thing after another on one cluster of three: kbuild waits or ends with
 * the reason, touches no other control plane, and the same command goes on. All the while a client writes.
 */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startWriter } from '../api-writer.ts';
import { badRepository, type BadRepository } from '../bad-repository.ts';
import { kbuild, start, type Ran, type Running } from '../kbuild.ts';
import * as lab from '../lab.ts';
import { happened, inside, kubelets, withoutRegistry } from '../midway.ts';
import { PACKAGES_URL } from '../network-plan.ts';
import { ok, unchanged } from '../ok.ts';
import { nodes } from '../pods.ts';
import { leftoversOf } from '../soak-run.ts';
import { membersOf, stacked, type Stacked } from '../stacked.ts';
import { leftOnNodes, nameVersion, upgradeArguments, versionsOf } from '../upgraded.ts';
import { KUBERNETES } from '../versions.ts';
import { waitUntil } from '../wait-until.ts';

const CONTROL_PLANES = ['uicp1', 'uicp2', 'uicp3'];
const [cp1, cp2, cp3] = CONTROL_PLANES as [string, string, string];
const W1 = 'uiw1';
const HOSTS = [...CONTROL_PLANES, W1];
const [OLD, NEW] = KUBERNETES;
const [old, updated] = [`v${OLD.version}`, `v${NEW.version}`];
const TEN_MINUTES = 10 * 60_000;
const HALF_AN_HOUR = 3 * TEN_MINUTES;

let cluster: Stacked;
let writer: ReturnType<typeof startWriter>;
let repository: BadRepository;
/** The run that goes on over several tests. */
let running: Running;
/** The manifests of the second control plane before its turn. */
let untouched: string;

const startUpgrade = (): Running => start(upgradeArguments(cluster));
const upgrade = (): Promise<Ran> => kbuild(...upgradeArguments(cluster));

/** The manifests of a control plane: what kbuild and kubeadm restart, they restart by these. A busy kubelet may restart more. */
const manifestsOf = (host: string): Promise<string> => inside(host, 'sha256sum /etc/kubernetes/manifests/*');

const isReady = async (host: string): Promise<boolean> => (await nodes(cp1))[host] === true;
async function stopKubelet(host: string): Promise<void> {
  await inside(host, 'systemctl stop kubelet');
  await waitUntil(`${host} not to be Ready`, TEN_MINUTES, async () => !(await isReady(host)));
}

const addressOf = (host: string): string => lab.hostSettings(host).address;
/** The version of the API server to which the endpoint leads. */
const versionAtEndpoint = async (): Promise<string> => {
  const answer = await inside(W1, `curl -sk https://${cluster.balancer.endpoint}/version`);
  return (JSON.parse(answer) as { gitVersion: string }).gitVersion;
};

/** kubeadm's copies of etcd's data on a host. */
const copiesOn = (host: string): Promise<string> =>
  inside(host, 'ls -1d /etc/kubernetes/tmp/kubeadm-backup-etcd-* 2>/dev/null | xargs');

/** kubeadm's `cp -r` of etcd's data stops in the middle on this host, when a part of it is there. */
const COPY_THAT_STOPS = `cat >/usr/local/bin/cp <<'END'
#!/bin/sh
case "$*" in
  *kubeadm-backup-etcd-*)
    for to; do :; done
    mkdir -p "$to/etcd/member"
    /bin/cp -r /var/lib/etcd/member/snap "$to/etcd/member/"
    touch /run/copying
    exec sleep infinity
    ;;
esac
exec /bin/cp "$@"
END
chmod +x /usr/local/bin/cp`;

beforeAll(async () => {
  repository = await badRepository();
  cluster = await stacked('midway', 7615, HOSTS);
  await nameVersion(cluster, HOSTS, OLD.version);
  ok(await cluster.up());
  writer = startWriter(cluster.kubeconfig);
});
afterAll(async () => {
  await repository.close();
  cluster.balancer.close();
  await lab.down(HOSTS);
});

test('a repository that has kubeadm and lacks the kubelet: it is named, and nothing is installed or restarted', async () => {
  const manifests = await Promise.all(CONTROL_PLANES.map(manifestsOf));
  repository.tamper = (path, content) => (path.includes(`/kubelet_${NEW.version}`) ? 'missing' : content);
  const { kubernetes } = (await lab.inventory(HOSTS)) as unknown as {
    readonly kubernetes: { readonly repository: { readonly url: string } };
  };
  const url = kubernetes.repository.url.replace(PACKAGES_URL, repository.url);
  await cluster.name(HOSTS, {
    kubernetes: {
      ...kubernetes,
      ...{ version: NEW.version, endpoint: cluster.balancer.endpoint },
      repository: { ...kubernetes.repository, url },
    },
  });
  const { code, stderr } = await upgrade();
  expect(code, stderr).not.toBe(0);
  expect(stderr).toContain(`kubelet_${NEW.version}`);
  for (const host of HOSTS)
    expect(await inside(host, "dpkg-query -W -f '${Version}\\n' kubeadm kubelet | sort -u"), host).toMatch(
      new RegExp(`^${OLD.version.replaceAll('.', String.raw`\.`)}-[^\n]*$`),
    );
  expect(await Promise.all(CONTROL_PLANES.map(manifestsOf))).toEqual(manifests);
  await nameVersion(cluster, HOSTS, NEW.version);
});

test('a control plane that is not Ready before the run: it is named and waited for, and none is restarted until it is back', async () => {
  await stopKubelet(cp3);
  const before = await Promise.all(CONTROL_PLANES.map(manifestsOf));
  running = startUpgrade();
  await happened(
    running,
    'settling',
    cp1,
    'control-planes-ready',
    `wait until ${cp3} serves again (found ${cp3}: its node: `,
  );
  expect(await Promise.all(CONTROL_PLANES.map(manifestsOf))).toEqual(before);
  await inside(cp3, 'systemctl start kubelet');
  await happened(running, 'changing', cp1, 'etcd-minimum');
  // Until the end: everything was downloaded before.
  await withoutRegistry(HOSTS);
});

test('an endpoint that leads to an old API server alone, and moves while kubeadm works: the run goes on', async () => {
  await happened(running, 'changing', cp1, 'control-plane-upgraded');
  cluster.balancer.setBackends([addressOf(cp3)]);
  const replaced = 'ls /etc/kubernetes/tmp/kubeadm-backup-manifests-*/kube-apiserver.yaml 2>/dev/null; true';
  await waitUntil(`the new API server of ${cp1}`, TEN_MINUTES, async () => (await inside(cp1, replaced)) !== '');
  cluster.balancer.setBackends([addressOf(cp2)]);
  await happened(running, 'changed', cp1, 'kubelet-upgraded');
});

test('an etcd member that dies in the middle: it is named, and no other member is restarted until it is back', async () => {
  untouched = await manifestsOf(cp2);
  await inside(cp3, 'mv /etc/kubernetes/manifests/etcd.yaml /root/');
  // Its node may stop being Ready first: its kubelet reports to that API server.
  const awaited = await happened(running, 'settling', cp2, 'control-planes-ready', 'its API server: ');
  expect(awaited).toContain(`${cp3} serves again (found ${cp3}: `);
  expect(await manifestsOf(cp2)).toBe(untouched);
  expect(await membersOf(cluster)).toEqual([cp1, cp2, `${cp3} down`]);
  // The first one is through meanwhile, and the endpoint leads to an older API server than its kubelet.
  expect(await versionAtEndpoint()).toBe(old);
  expect(await kubelets(cp1)).toMatchObject({ [cp1]: updated, [cp2]: old });
  expect(await isReady(cp1)).toBe(true);
  await inside(cp2, COPY_THAT_STOPS);
  await inside(cp3, 'mv /root/etcd.yaml /etc/kubernetes/manifests/');
});

test('kubeadm killed while it copies etcd’s data: the run says so, and etcd runs on with its data', async () => {
  await waitUntil(`half a copy on ${cp2}`, HALF_AN_HOUR, async () => (await inside(cp2, 'ls /run/copying')) !== '');
  await inside(cp2, "systemctl kill -s KILL 'kbuild-job-kubeadm-upgrade*'; rm /usr/local/bin/cp");
  const { code, stderr } = await running.ended;
  expect(code, stderr).not.toBe(0);
  expect(stderr).toContain(cp2);
  expect(await manifestsOf(cp2)).toBe(untouched);
  expect(await membersOf(cluster)).toEqual(CONTROL_PLANES);
  expect(await copiesOn(cp2)).not.toBe('');
});

test('a control plane that is not Ready in the middle: it is named and waited for, and the next one is not touched', async () => {
  cluster.balancer.setBackends(CONTROL_PLANES.map(addressOf));
  await stopKubelet(cp3);
  running = startUpgrade();
  await happened(
    running,
    'settling',
    cp2,
    'control-planes-ready',
    `wait until ${cp3} serves again (found ${cp3}: its node: `,
  );
  expect(await manifestsOf(cp2)).toBe(untouched);
  const half = await copiesOn(cp2);
  await inside(cp3, 'systemctl start kubelet');
  await happened(running, 'changed', cp2, 'control-plane-upgraded');
  // The copy that was cut off is neither kept as a backup, nor did it get into etcd's folder.
  expect(await inside(cp2, `ls -d ${half} 2>/dev/null; true`)).toBe('');
  expect(await copiesOn(cp2)).not.toBe('');
  expect(await inside(cp2, 'ls /var/lib/etcd')).toBe('member');
});

test('the same command ends the upgrade without the registry, and no acknowledged write is lost', async () => {
  ok(await running.ended);
  const { acknowledged, lost, longestGapMs } = await writer.stop();
  console.log(`${String(acknowledged)} writes acknowledged, longest gap ${String(longestGapMs)} ms`);
  expect(lost).toEqual([]);
  const version = [updated];
  expect(await versionsOf(cp1)).toEqual({
    ...{ kubelet: version, apiServer: version, controllerManager: version, scheduler: version, kubeProxy: version },
    etcd: [`${NEW.etcd}-0`],
  });
  expect(await leftOnNodes(cp1)).toEqual([]);
  unchanged(await cluster.run('upgrade'));
  expect(await leftoversOf(HOSTS)).toEqual([]);
});
