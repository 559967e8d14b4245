/** A cluster that is upgraded under load: what its clients saw, and what runs afterwards. */
import { writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { join } from 'node:path';
import { stringify } from 'yaml';
import { startWriter, type Written } from './api-writer.ts';
import type { Fresh } from './fresh.ts';
import * as lab from './lab.ts';
import { ok } from './ok.ts';
import { eventsOf, start, type Ran } from './kbuild.ts';
import { kubectl } from './pods.ts';
import type { Stacked } from './stacked.ts';
import { timeOfUpgrade, toldTime } from './upgrade-time.ts';
import { VERSIONS } from './versions.ts';
import { PATIENCE_MS, waitUntil } from './wait-until.ts';

const PORT = 31777;
const IMAGE = `registry.k8s.io/e2e-test-images/agnhost:${VERSIONS.agnhost}`;

/** Two replicas on different nodes behind a Service, and a budget that lets one of them go at a time. */
export async function startWorkload(controlPlane: string): Promise<void> {
  const labels = { app: 'web' };
  const container = {
    name: 'web',
    image: IMAGE,
    args: ['netexec', '--http-port=8080'],
    readinessProbe: { httpGet: { path: '/healthz', port: 8080 }, periodSeconds: 1 },
    // As any workload that serves: it leaves the Service before it ends.
    lifecycle: { preStop: { sleep: { seconds: 5 } } },
  };
  const spread = {
    maxSkew: 1,
    topologyKey: 'kubernetes.io/hostname',
    whenUnsatisfiable: 'ScheduleAnyway',
    labelSelector: { matchLabels: labels },
  };
  const objects = [
    {
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata: { name: 'web', namespace: 'default' },
      spec: {
        replicas: 2,
        selector: { matchLabels: labels },
        template: { metadata: { labels }, spec: { topologySpreadConstraints: [spread], containers: [container] } },
      },
    },
    {
      apiVersion: 'policy/v1',
      kind: 'PodDisruptionBudget',
      metadata: { name: 'web', namespace: 'default' },
      spec: { minAvailable: 1, selector: { matchLabels: labels } },
    },
    {
      apiVersion: 'v1',
      kind: 'Service',
      metadata: { name: 'web', namespace: 'default' },
      spec: { type: 'NodePort', selector: labels, ports: [{ port: 80, targetPort: 8080, nodePort: PORT }] },
    },
  ];
  await kubectl(controlPlane, 'apply -f -', JSON.stringify({ apiVersion: 'v1', kind: 'List', items: objects }));
  await kubectl(controlPlane, 'rollout status deployment/web --timeout=300s');
}

/** The inventory names this version from now on. */
export async function nameVersion(cluster: Stacked, hosts: readonly string[], version: string): Promise<void> {
  const { kubernetes } = (await lab.inventory(hosts)) as unknown as { readonly kubernetes: object };
  await cluster.name(hosts, { kubernetes: { ...kubernetes, version, ...cluster.kubernetes } });
}

/** The same for hosts of `fresh`, in the cluster of this name. */
export async function nameFreshVersion(
  { file }: Fresh,
  cluster: string,
  hosts: readonly string[],
  version: string,
): Promise<void> {
  const plain = await lab.inventory(hosts);
  const kubernetes = { ...(plain as unknown as { readonly kubernetes: object }).kubernetes, version };
  writeFileSync(file, stringify({ ...plain, name: cluster, kubernetes }, { aliasDuplicateObjects: false }));
}

const answers = (address: string): Promise<boolean> =>
  new Promise((resolve) => {
    const asked = request({ host: address, port: PORT, path: '/hostname', agent: false, timeout: 1000 }, (answer) => {
      answer.resume();
      resolve(answer.statusCode === 200);
    });
    asked.on('timeout', () => asked.destroy());
    asked.on('error', () => resolve(false));
    asked.end();
  });

/** Asks the Service through a node all the time; `stop` tells the longest time between two answers in ms. */
export function watchService(address: string): { readonly stop: () => Promise<number> } {
  const over = new AbortController();
  let last = performance.now();
  let longest = 0;
  const work = (async () => {
    while (!over.signal.aborted) {
      if (await answers(address)) {
        longest = Math.max(longest, performance.now() - last);
        last = performance.now();
      }
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
  })();
  return {
    stop: async () => {
      over.abort();
      await work;
      return Math.round(Math.max(longest, performance.now() - last));
    },
  };
}

/** A run, and what clients saw meanwhile. */
export interface UnderLoad {
  readonly ran: Ran;
  readonly written: Written;
  /** The longest time in ms between two answers of the Service. */
  readonly serviceGapMs: number;
}

/** The arguments of `kbuild upgrade` for a cluster. */
export const upgradeArguments = ({ file, kubeconfig }: Stacked): readonly string[] => [
  ...['upgrade', file, '--yes', '--json', '--kubeconfig', kubeconfig],
];

/** Does `work` while a client writes through the endpoint and another one asks a Service of two replicas by way of `node`. */
export async function underLoad(
  cluster: Stacked,
  node: string,
  what: string,
  work: () => Promise<Ran>,
): Promise<UnderLoad> {
  const { address } = lab.hostSettings(node);
  await waitUntil('the Service to answer', PATIENCE_MS, () => answers(address));
  const writer = startWriter(cluster.kubeconfig);
  const service = watchService(address);
  const ran = await work();
  const written = await writer.stop();
  const serviceGapMs = await service.stop();
  console.log(
    `${what} in ${ran.seconds.toFixed(0)} s; ${String(written.acknowledged)} writes acknowledged, ${String(written.failed)} failed, ${String(written.lost.length)} lost, longest gap ${String(written.longestGapMs)} ms; the Service's longest gap ${String(serviceGapMs)} ms`,
  );
  return { ran: ok(ran), written, serviceGapMs };
}

/** Upgrades the cluster under load, and prints what the time went to. */
export async function upgradeUnderLoad(
  cluster: Stacked,
  node: string,
  flags: readonly string[] = [],
): Promise<UnderLoad> {
  const log = join(cluster.file, '..', `upgrade-${String(Date.now())}.log`);
  const seen = await underLoad(
    cluster,
    node,
    'upgraded',
    () => start([...upgradeArguments(cluster), '--log-file', log, ...flags]).ended,
  );
  console.log(toldTime(timeOfUpgrade(log)));
  return seen;
}

/** Whether CoreDNS must be spread again depends on where its pods went. */
const isCertain = (change: string): boolean => !change.endsWith(' coredns-spread');

/** The changes of a `--json` run, as `phase host step`. */
export const changesOf = (ran: Ran): readonly string[] =>
  eventsOf(ran)
    .flatMap((event) => (event.kind === 'changed' ? [`${event.phase} ${event.host} ${event.step}`] : []))
    .filter(isCertain);

/** The changes that `upgrade --plan --json` shows. */
export async function plannedChanges(cluster: Stacked): Promise<readonly string[]> {
  const { stdout } = ok(await cluster.run('upgrade', '--plan', '--json'));
  const { changes } = JSON.parse(stdout) as { changes: { phase: string; host: string; step: string }[] };
  return changes.map(({ phase, host, step }) => `${phase} ${host} ${step}`).filter(isCertain);
}

/** What runs: kubelets, static pods, kube-proxy and etcd, each version once. */
export async function versionsOf(controlPlane: string): Promise<Readonly<Record<string, readonly string[]>>> {
  const unique = (text: string): readonly string[] => [...new Set(text.trim().split(/\s+/))].sort();
  const images = (selector: string) =>
    kubectl(
      controlPlane,
      `-n kube-system get pods -l ${selector} -o jsonpath='{range .items[*]}{.spec.containers[0].image}{"\\n"}{end}'`,
    );
  const tags = async (selector: string): Promise<readonly string[]> =>
    unique((await images(selector)).replaceAll(/^.*:/gm, ''));
  return {
    kubelet: unique(await kubectl(controlPlane, `get nodes -o jsonpath='{.items[*].status.nodeInfo.kubeletVersion}'`)),
    apiServer: await tags('component=kube-apiserver'),
    controllerManager: await tags('component=kube-controller-manager'),
    scheduler: await tags('component=kube-scheduler'),
    etcd: await tags('component=etcd'),
    kubeProxy: await tags('k8s-app=kube-proxy'),
  };
}

/** The notes of a drain. */
const NOTES = ['kbuild.dev/cordoned', 'kbuild.dev/drained', 'kbuild.dev/workloads'];

/** Nodes that are cordoned, or carry a note or a taint of an upgrade. */
export async function leftOnNodes(controlPlane: string): Promise<readonly string[]> {
  const { items } = JSON.parse(await kubectl(controlPlane, 'get nodes -o json')) as {
    items: {
      metadata: { name: string; annotations?: Record<string, string> };
      spec: { unschedulable?: boolean; taints?: { key: string }[] };
    }[];
  };
  return items.flatMap(({ metadata: { name, annotations = {} }, spec }) => [
    ...(spec.unschedulable === true ? [`${name} is cordoned`] : []),
    ...(spec.taints ?? []).flatMap(({ key }) => (key.startsWith('kbuild.dev/') ? [`${name} ${key}`] : [])),
    ...NOTES.flatMap((key) => (key in annotations ? [`${name} ${key}`] : [])),
  ]);
}
