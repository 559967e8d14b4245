/**
 * Settings of a live cluster are edited, and kbuild is killed: at every change that it tells, and in the middle of the long ones. The same
 * command brings each of them into force, one control plane after another, and leaves a settled cluster. At the end hosts join, and have all
 * of them. The tests build on each other.
 */
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { httpProxy, type Proxy } from '../http-proxy.ts';
import { imageMirror, type ImageMirror } from '../image-mirror.ts';
import { start } from '../kbuild.ts';
import { killedAtChanges, type KilledAtChanges } from '../killed-at-changes.ts';
import * as lab from '../lab.ts';
import { expectJoins, expectSettled } from '../lives-on.ts';
import { ok, timed } from '../ok.ts';
import { kubectl } from '../pods.ts';
import { stacked, type Stacked } from '../stacked.ts';
import { waitUntil } from '../wait-until.ts';

const CONTROL_PLANES = ['skcp1', 'skcp2'];
const HOSTS = [...CONTROL_PLANES, 'skw1'];
const LATER = ['skcp3', 'skw2'];
const [cp, , worker] = HOSTS as [string, string, string];
const PATIENCE_MS = 300_000;
const HALF_AN_HOUR = 30 * 60_000;
const AUDIT = '/etc/kubernetes/audit-policy.yaml';
const GATE = 'MutablePVNodeAffinity';
const KUBELETS = { maxPods: 90, featureGates: { PodLogsQuerySplitStreams: true } };
const QUOTA = 4 * 2 ** 30;
const REPOSITORY = 'mirror.lab.test/k8s';
const SUBNET = '10.112.0.0/16';
/** What workers are in. */
const GPU = {
  labels: { 'example.com/gpu': 'yes' },
  taints: [{ key: 'example.com/gpu', value: 'yes', effect: 'NoSchedule' }],
  sysctls: { 'net.core.somaxconn': 8191 },
};

type Section = Readonly<Record<string, object>>;
let cluster: Stacked;
let mirror: ImageMirror;
let proxy: Proxy;
let patches: string;
/** The lab's inventory, and what is said beside it. */
let plain: Readonly<Record<'kubernetes' | 'runtime' | 'network' | 'kubelet' | 'kubeadm', Section>>;
let said: object;

const up = (): readonly string[] => ['up', cluster.file, '--yes', '--kubeconfig', cluster.kubeconfig];
const inside = async (host: string, command: string): Promise<string> =>
  (await lab.inside(host, command)).stdout.trim();
const onEach = (hosts: readonly string[], command: string): Promise<readonly string[]> =>
  Promise.all(hosts.map((host) => inside(host, command)));
const each = <T>(hosts: readonly string[], value: T): readonly T[] => hosts.map(() => value);

/** The inventory says this too from now on. */
const say = (more: object): Promise<void> => cluster.name(HOSTS, (said = { ...said, ...more }));
const audited = (level: string): object => ({
  files: [
    {
      hosts: 'control-plane',
      content: `apiVersion: audit.k8s.io/v1\nkind: Policy\nrules: [{ level: ${level} }]\n`,
      path: AUDIT,
    },
  ],
});
/** `kubeadm` with these arguments of the API server beside those for auditing. */
const kubeadm = (args: readonly object[], cluster: object = {}, more: object = {}): object => ({
  kubeadm: {
    ...plain.kubeadm,
    ...more,
    patches,
    cluster: {
      ...cluster,
      apiServer: {
        extraArgs: [{ name: 'audit-policy-file', value: AUDIT }, { name: 'audit-log-path', value: '-' }, ...args],
        extraVolumes: [{ name: 'audit', hostPath: AUDIT, mountPath: AUDIT, readOnly: true, pathType: 'File' }],
      },
    },
  },
});
const gated = (more: object = {}): object =>
  kubeadm(
    [{ name: 'feature-gates', value: `${GATE}=true` }],
    { etcd: { local: { extraArgs: [{ name: 'quota-backend-bytes', value: String(QUOTA) }] } } },
    more,
  );
const kubelets = (config: object): object => ({ kubelet: { config: { ...plain.kubelet['config'], ...config } } });
/** Workers of these hosts are in the group `gpu`. */
const inGroups = async (names: readonly string[]): Promise<object> => ({
  groups: { gpu: GPU },
  hosts: (await lab.inventory(names)).hosts.map((host) =>
    host.role === 'worker' ? { ...host, groups: ['gpu'] } : host,
  ),
});
const patch = (name: string): string => join(patches, `${name}+merge.yaml`);

/** Finishes what the inventory says, with a kill at every change. */
async function killed(): Promise<KilledAtChanges> {
  const ran = await killedAtChanges(up());
  ok(ran.last);
  expect(ran.kills).toBeGreaterThan(0);
  expect(ran.made).toEqual([...new Set(ran.made)]);
  return ran;
}

/** Kills kbuild when one control plane has this text in a manifest; the other one has not, then. */
async function killedBetween(manifest: string, text: string): Promise<void> {
  const having = async (): Promise<readonly string[]> =>
    (await onEach(CONTROL_PLANES, `grep -l -e '${text}' /etc/kubernetes/manifests/${manifest}.yaml; hostname`))
      .map((found) => found.split('\n'))
      .flatMap((found) => (found.length > 1 ? [found.at(-1)!] : []));
  const running = start([...up(), '--json']);
  let over = false;
  const end = (): void => void (over = true);
  void running.ended.then(end, end);
  const has = await waitUntil(`${text} in a manifest`, HALF_AN_HOUR, async () => {
    if (over) throw new Error(`kbuild ended before: ${(await running.ended).stderr}`);
    const found = await having();
    return found.length > 0 && found;
  });
  running.kill('SIGKILL');
  expect(has).toHaveLength(1);
  expect((await running.ended).code).toBe(null);
}

/** What a field of the pod of a component says on each control plane. */
const eachPod = (component: string, path: string, hosts = CONTROL_PLANES): Promise<readonly string[]> =>
  Promise.all(hosts.map((host) => kubectl(cp, `-n kube-system get pod ${component}-${host} -o jsonpath='${path}'`)));

/** What static pods read is in force on these control planes. */
async function expectStaticPods(hosts: readonly string[]): Promise<void> {
  for (const host of hosts) {
    const own = `--server https://${lab.hostSettings(host).address}:6443`;
    expect(await kubectl(cp, `${own} get --raw /metrics | grep 'kubernetes_feature_enabled{name="${GATE}"'`)).toMatch(
      / 1$/m,
    );
    expect(await kubectl(cp, `-n kube-system logs kube-apiserver-${host} --tail=500`)).toContain('"level":"Metadata"');
  }
  const quotas = await onEach(
    hosts,
    "curl -s http://127.0.0.1:2381/metrics | sed -n 's/^etcd_server_quota_backend_bytes //p'",
  );
  expect(quotas.map(Number)).toEqual(each(hosts, QUOTA));
}

/** What kubelets of these hosts run with, by their own word. */
async function expectKubelets(hosts: readonly string[], settings: object): Promise<void> {
  for (const host of hosts) {
    const { kubeletconfig } = JSON.parse(await kubectl(cp, `get --raw /api/v1/nodes/${host}/proxy/configz`)) as {
      readonly kubeletconfig: object;
    };
    expect(kubeletconfig, host).toMatchObject(settings);
  }
}

/** The group's settings are those of these workers. */
async function expectGroup(workers: readonly string[]): Promise<void> {
  for (const host of workers) {
    const node = JSON.parse(await kubectl(cp, `get node ${host} -o json`)) as object;
    expect(node, host).toMatchObject({ metadata: { labels: GPU.labels }, spec: { taints: GPU.taints } });
    expect(await inside(host, 'cat /proc/sys/net/core/somaxconn')).toBe('8191');
  }
}

/** kube-proxy's rules are those of this mode alone, and Services answer. */
async function expectMode(mode: 'iptables' | 'nftables', hosts: readonly string[]): Promise<void> {
  for (const host of hosts) {
    await waitUntil(`${host} has rules of ${mode} only`, PATIENCE_MS, async () => {
      const found = await inside(
        host,
        `{ iptables-save; ip6tables-save; } 2>/dev/null | grep -cE 'KUBE-(SVC|SEP|SERVICES|NODEPORTS)'
         nft list tables | grep -c ' kube-proxy$'`,
      );
      return (mode === 'nftables' ? /^0\n[1-9]/ : /^[1-9]\d*\n0/).test(found);
    });
    await waitUntil(`the API's Service answers on ${host}`, PATIENCE_MS, async () =>
      (await inside(host, 'curl -sk --max-time 3 -o /dev/null -w "%{http_code}" https://10.96.0.1/livez')).startsWith(
        '200',
      ),
    );
  }
}

/** HTTP_PROXY of the first process of this name. */
const proxyOf = (hosts: readonly string[], name: string): Promise<readonly string[]> =>
  onEach(hosts, `tr '\\0' '\\n' </proc/$(pgrep -x -o ${name})/environ | sed -n 's/^HTTP_PROXY=//p'`);

beforeAll(async () => {
  [mirror, proxy] = await Promise.all([imageMirror('k8s'), httpProxy()]);
  cluster = await stacked('killed', 7957, HOSTS);
  patches = join(dirname(cluster.file), 'patches');
  mkdirSync(patches);
  plain = (await lab.inventory(HOSTS)) as unknown as typeof plain;
  writeFileSync(patch('kube-scheduler'), 'metadata: { labels: { changed: "no" } }\n');
  said = {};
  await say({ ...audited('None'), ...kubeadm([]) });
  await inside(worker, "echo '/swapfile none swap sw 0 0' >> /etc/fstab");
  timed('2 + 1', await cluster.up());
});
afterAll(async () => {
  cluster.balancer.close();
  await Promise.all([mirror.stop(), proxy.stop()]);
  await lab.down([...HOSTS, ...LATER]);
});

test('a change that was cut off between two control planes and set back is taken back from the first', async () => {
  const label = (value: string): void =>
    writeFileSync(patch('kube-scheduler'), `metadata: { labels: { changed: "${value}" } }\n`);
  label('half');
  await killedBetween('kube-scheduler', 'half');
  label('no');
  await killed();
  expect(await eachPod('kube-scheduler', '{.metadata.labels.changed}')).toEqual(each(CONTROL_PLANES, 'no'));
  ok(await cluster.run('plan', '--detailed-exitcode'));
});

test('what static pods read: a feature gate, a quota of etcd, a patch, the content of a file', async () => {
  writeFileSync(patch('kube-scheduler'), 'metadata: { labels: { changed: "yes" } }\n');
  await say({ ...audited('Metadata'), ...gated() });
  await killedBetween('kube-apiserver', GATE);
  await killed();
  expect(await eachPod('kube-scheduler', '{.metadata.labels.changed}')).toEqual(each(CONTROL_PLANES, 'yes'));
  await expectStaticPods(CONTROL_PLANES);
  await expectSettled(cluster, HOSTS);
});

test('a patch taken out, kubelets, swap, sysctls and groups, and objects of the cluster: kube-proxy, DNS, Services', async () => {
  rmSync(patch('kube-scheduler'));
  await say({
    ...gated({ kubeProxy: { ...plain.kubeadm['kubeProxy'], mode: 'nftables' } }),
    ...kubelets({ ...KUBELETS, failSwapOn: false }),
    ...(await inGroups(HOSTS)),
    network: { ...plain.network, moreServiceSubnets: [SUBNET] },
    dns: { replicas: 3 },
  });
  await killed();
  expect(await eachPod('kube-scheduler', '{.metadata.labels.changed}')).toEqual(each(CONTROL_PLANES, ''));
  await expectKubelets(HOSTS, { ...KUBELETS, failSwapOn: false });
  await expectGroup([worker]);
  await expectMode('nftables', HOSTS);
  await kubectl(cp, '-n kube-system rollout status deployment coredns --timeout 300s');
  expect(await kubectl(cp, "-n kube-system get deployment coredns -o jsonpath='{.status.readyReplicas}'")).toBe('3');
  expect(await kubectl(cp, "get servicecidrs -o jsonpath='{.items[*].spec.cidrs[*]}'")).toContain(SUBNET);
  // Swap may stay now.
  expect(await inside(worker, 'grep swap /etc/fstab')).toMatch(/^#/);
  await inside(worker, "echo '/swapfile none swap sw 0 0' >> /etc/fstab");
  await expectSettled(cluster, HOSTS);
  expect(await inside(worker, 'tail -n 1 /etc/fstab')).toMatch(/^\/swapfile /);
});

test('where images come from and by which way: imageRepository, registries, proxy; the runtime itself; and the way back of kube-proxy and swap', async () => {
  const runtime = 'io.containerd.cri.v1.runtime';
  const { plugins } = plain.runtime['config'] as unknown as { readonly plugins: Section };
  await say({
    // Back to kube-proxy's own mode.
    ...gated(),
    ...kubelets(KUBELETS),
    kubernetes: { ...plain.kubernetes, ...cluster.kubernetes, imageRepository: REPOSITORY },
    runtime: {
      ...plain.runtime,
      config: { plugins: { ...plugins, [runtime]: { ...plugins[runtime], max_container_log_line_size: 32_768 } } },
      registries: [
        ...(plain.runtime['registries'] as unknown as readonly object[]),
        { host: dirname(REPOSITORY), mirrors: [mirror.url] },
      ],
    },
    proxy: { http: proxy.url },
  });
  await killedBetween('etcd', REPOSITORY);
  await killed();
  for (const component of ['kube-apiserver', 'kube-controller-manager', 'kube-scheduler', 'etcd'])
    for (const image of await eachPod(component, '{.spec.containers[0].image}'))
      expect(image).toMatch(new RegExp(`^${REPOSITORY}/${component}:`));
  await kubectl(cp, '-n kube-system rollout status daemonset kube-proxy --timeout 300s');
  for (const object of ['daemonset kube-proxy', 'deployment coredns'])
    expect(
      await kubectl(cp, `-n kube-system get ${object} -o jsonpath='{.spec.template.spec.containers[0].image}'`),
    ).toContain(`${REPOSITORY}/`);
  expect(mirror.asked.filter((path) => path.startsWith('/v2/k8s/etcd/'))).not.toEqual([]);
  // The lab's gateway is an exception of the proxy, because the cluster's endpoint is there: images do not come through it.
  expect(proxy.asked.filter((url) => url.includes(':6443'))).toEqual([]);
  expect(await proxyOf(CONTROL_PLANES, 'kube-apiserver')).toEqual(each(CONTROL_PLANES, proxy.url));
  expect(await proxyOf(HOSTS, 'containerd')).toEqual(each(HOSTS, proxy.url));
  expect(await onEach(HOSTS, 'containerd config dump | sed -n "s/^ *max_container_log_line_size = //p"')).toEqual(
    each(HOSTS, '32768'),
  );
  await expectKubelets(HOSTS, { ...KUBELETS, failSwapOn: true });
  expect(await inside(worker, 'grep swap /etc/fstab')).not.toMatch(/^[^#]/m);
  await expectMode('iptables', HOSTS);
  await expectSettled(cluster, HOSTS);
});

test('afterwards a control plane and a worker can join, and have all of these settings; the proxy goes again', async () => {
  const all = [...HOSTS, ...LATER];
  await lab.up(LATER);
  await expectJoins(cluster, HOSTS, LATER, { ...said, ...(await inGroups(all)), proxy: undefined });
  const [control, joined] = LATER as [string, string];
  await expectStaticPods([control]);
  expect((await eachPod('etcd', '{.spec.containers[0].image}', [control]))[0]).toContain(`${REPOSITORY}/etcd:`);
  await expectKubelets(LATER, KUBELETS);
  await expectGroup([joined]);
  await expectMode('iptables', LATER);
  expect(await proxyOf([...CONTROL_PLANES, control], 'kube-apiserver')).toEqual(each([...CONTROL_PLANES, control], ''));
  expect(await proxyOf(all, 'containerd')).toEqual(each(all, ''));
});
