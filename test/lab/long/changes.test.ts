/**
 * What is changed on a cluster that lives: settings and packages reach one control plane after another and a tenth of the
 * workers at a time, services that stand still are started, and the same command does all of it. A client writes through the
 * endpoint meanwhile. The tests build on each other.
 */
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startWriter } from '../api-writer.ts';
import { eventsOf, type Ran } from '../kbuild.ts';
import * as lab from '../lab.ts';
import { ok, timed } from '../ok.ts';
import { kubectl } from '../pods.ts';
import { stacked, type Stacked } from '../stacked.ts';
import { KUBERNETES } from '../versions.ts';
import { waitUntil } from '../wait-until.ts';

const CONTROL_PLANES = ['ucp1', 'ucp2', 'ucp3'];
const WORKERS = ['uw1', 'uw2'];
const HOSTS = [...CONTROL_PLANES, ...WORKERS];
let cluster: Stacked;
let writer: ReturnType<typeof startWriter> | undefined;
let patches: string;

async function inside(host: string, command: string): Promise<string> {
  const { code, stdout, stderr } = await lab.inside(host, command);
  if (code !== 0) throw new Error(`${host}: ${command}: ${stderr}`);
  return stdout.trim();
}

/** Waits may be due at any moment of a busy machine; changes are not. */
async function nothingIsChanged(): Promise<void> {
  const events = eventsOf(ok(await cluster.up('--json')));
  expect(events.filter(({ kind }) => kind === 'changed')).toEqual([]);
}

/** The spans in which changes of a step ran, by host, in the order in which they began. */
function spansOf(
  ran: Ran,
  step: string,
): readonly { readonly host: string; readonly from: number; readonly to: number }[] {
  return eventsOf(ran)
    .flatMap((event) => {
      if (event.kind !== 'changed' || event.step !== step) return [];
      const to = Date.parse(event.time);
      return [{ host: event.host, from: to - event.durationMs, to }];
    })
    .sort((a, b) => a.from - b.from);
}

/** True when no two of these hosts were changed at the same time. */
const isOneAtATime = (spans: ReturnType<typeof spansOf>, hosts: readonly string[]): boolean =>
  spans.filter(({ host }) => hosts.includes(host)).every(({ from }, i, all) => i === 0 || from >= all[i - 1]!.to);

let kubeadm: object;
/** What the inventory says beside its hosts. */
let said: object;
const say = async (more: object): Promise<void> => cluster.name(HOSTS, (said = { ...said, ...more }));

beforeAll(async () => {
  cluster = await stacked('changes', 7503, HOSTS);
  patches = join(dirname(cluster.file), 'patches');
  mkdirSync(patches);
  ({ kubeadm } = (await lab.inventory(HOSTS)) as unknown as { readonly kubeadm: object });
  said = { kubeadm: { ...kubeadm, patches } };
  await say({});
  timed('3 + 2', await cluster.up());
  writer = startWriter(cluster.kubeconfig);
});
afterAll(async () => {
  await writer?.stop();
  cluster.balancer.close();
  await lab.down(HOSTS);
});

/** What a field of the pod of a component says on each control plane. */
const eachPod = (component: string, path: string): Promise<readonly string[]> =>
  Promise.all(
    CONTROL_PLANES.map((host) => kubectl('ucp1', `-n kube-system get pod ${component}-${host} -o jsonpath='${path}'`)),
  );

test('a kubelet that was stopped, one that was masked and a runtime that was stopped: the same command starts them', async () => {
  await inside('uw1', 'systemctl stop kubelet');
  await inside('uw2', 'systemctl mask --runtime --now kubelet');
  await inside('ucp2', 'systemctl stop kubelet containerd');
  const ran = timed('stopped services', await cluster.up('--json'));
  const made = eventsOf(ran).flatMap((event) => (event.kind === 'changed' ? [`${event.host}: ${event.summary}`] : []));
  expect(made.sort()).toEqual([
    'ucp2: start containerd (found enabled, inactive)',
    'ucp2: start kubelet (found enabled, inactive)',
    'uw1: start kubelet (found enabled, inactive)',
    'uw2: unmask, enable, and start kubelet (found masked-runtime, inactive)',
  ]);
  await nothingIsChanged();
});

/** Makes dpkg believe that an older version is installed: the next installation is an upgrade, with all that its scripts do. */
const agePackages = async (host: string, names: readonly string[], version: string): Promise<void> => {
  const edits = names.map((name) => `-e '/^Package: ${name}$/,/^$/s/^Version: .*/Version: ${version}/'`).join(' ');
  await inside(host, `sed -i ${edits} /var/lib/dpkg/status`);
};

test('a runtime that restarts goes one control plane at a time, and a tenth of the workers', async () => {
  for (const host of HOSTS) await agePackages(host, ['containerd.io'], '2.2.8-1');
  const ran = timed('packages', await cluster.up('--json'));
  const runtime = spansOf(ran, 'containerd-package');
  expect(runtime.map(({ host }) => host).sort()).toEqual(HOSTS);
  expect(isOneAtATime(runtime, CONTROL_PLANES), JSON.stringify(runtime)).toBe(true);
  expect(isOneAtATime(runtime, WORKERS), JSON.stringify(runtime)).toBe(true);
  await nothingIsChanged();
});

test('after an upgrade by hand of one control plane, no newer kubelet is put onto any host, and this is said', async () => {
  const manifest = '/etc/kubernetes/manifests/kube-apiserver.yaml';
  const noted = (from: string, to: string) =>
    `kubectl --kubeconfig /etc/kubernetes/admin.conf -n kube-system get cm kubeadm-config -o yaml | sed 's/v${from}/v${to}/' | kubectl --kubeconfig /etc/kubernetes/admin.conf replace -f -`;
  const [old, next] = KUBERNETES;
  const upgrade = async (from: string, to: string): Promise<void> => {
    await inside('ucp2', noted(from, to));
    await inside('ucp1', `sed -i 's/kube-apiserver:v${from}/kube-apiserver:v${to}/' ${manifest}`);
    const own = `https://${lab.hostSettings('ucp1').address}:6443`;
    const asked = `kubectl --kubeconfig /etc/kubernetes/admin.conf --server ${own} get --raw /version || true`;
    await waitUntil('the API server of ucp1 to be of that version', 300_000, async () =>
      (await inside('ucp1', asked)).includes(`v${to}`),
    );
  };
  await upgrade(old.version, next.version);
  const text = JSON.stringify(await kubernetes()).replaceAll(old.version, next.version);
  await cluster.name(HOSTS, { ...said, kubernetes: JSON.parse(text) as object });
  const plan = await cluster.run('plan');
  expect(plan.stdout + plan.stderr).toContain(
    `the API servers run different versions (${old.version} on ucp2, ucp3; ${next.version} on ucp1; kubeadm noted ${next.version})`,
  );
  expect(plan.stderr).toContain('`kbuild upgrade` with kubernetes.version');
  expect(plan.stdout).not.toContain('install');
  await upgrade(next.version, old.version);
  await say({});
  await nothingIsChanged();
});

test('patches of a static pod, of etcd and of the kubelet reach every host, one control plane after another, and are taken back', async () => {
  const names = ['kube-scheduler', 'etcd'].map((name) => ({ name, file: join(patches, `${name}+merge.yaml`) }));
  const kubelet = join(patches, 'kubeletconfiguration+merge.yaml');
  const pods = `get nodes -o jsonpath='{.items[*].status.capacity.pods}'`;
  for (const { file } of names) writeFileSync(file, 'metadata: { labels: { changed: "yes" } }\n');
  writeFileSync(kubelet, 'maxPods: 77\n');
  const plan = await cluster.run('plan');
  expect(plan.stdout, plan.stderr).toContain('apply the edited settings of kubeadm.patches to the live cluster');
  timed('patches', await cluster.up());
  for (const { name } of names)
    expect(await eachPod(name, '{.metadata.labels.changed}'), name).toEqual(CONTROL_PLANES.map(() => 'yes'));
  expect(await kubectl('ucp1', pods)).toBe(HOSTS.map(() => '77').join(' '));
  await nothingIsChanged();
  rmSync(names[0]!.file);
  rmSync(kubelet);
  timed('patches taken back', await cluster.up());
  expect(await eachPod('kube-scheduler', '{.metadata.labels.changed}')).toEqual(CONTROL_PLANES.map(() => ''));
  expect(await kubectl('ucp1', pods)).toBe(HOSTS.map(() => '110').join(' '));
  await nothingIsChanged();
});

/** `kubernetes:` of the inventory, with its endpoint. */
const kubernetes = async (): Promise<object> => ({
  ...((await lab.inventory(HOSTS))['kubernetes'] as object),
  endpoint: cluster.balancer.endpoint,
});

test('nothing that a client was told is lost', async () => {
  const { acknowledged, lost, longestGapMs } = await writer!.stop();
  console.log(`${String(acknowledged)} writes acknowledged, longest gap ${String(longestGapMs)} ms`);
  expect(lost).toEqual([]);
});
