/** A cluster whose endpoint moves, as far as a move can tell its places apart, and what each change does to them. */
import { parse, stringify } from 'yaml';
import { CLUSTER_INFO } from '../../src/certificates/cluster-info.step.ts';
import type { Fleet } from '../../src/cluster/fleet/fleet.ts';
import type { LinuxFacts } from '../../src/cluster/fleet/linux.ts';
import { type ClusterUp, objectKey } from '../../src/cluster/fleet/view.ts';
import type { Inventory, LinuxHost } from '../../src/inventory/inventory.ts';
import { KUBE_PROXY, KUBE_PROXY_CONFIG } from '../../src/kubeadm/endpoint-objects.step.ts';
import type { NewEndpoint } from '../../src/kubeadm/endpoint.facts.ts';
import { KUBEADM_CONFIG } from '../../src/kubeadm/endpoint.step.ts';
import type { JsonObject } from '../../src/shell/decode.ts';
import { clusterOf, cp1, fleetIn, inventoryOf, joinedHost, nodesOf, w1 } from '../fakes/cluster.ts';

export const OLD = '10.0.0.11:6443';
export const NEW = '10.0.0.100:8443';
export const hosts = [cp1, w1];
export const inventory: Inventory = inventoryOf({ hosts, endpoint: NEW, loadBalancer: { kind: 'external' } });

/** `from`: when the file was changed, in seconds. */
export interface Conf {
  server: string;
  from?: number;
}

export interface World {
  readonly confs: Record<string, Record<string, Conf>>;
  readonly answers: Record<string, NewEndpoint>;
  /** When kubelets started, in seconds. */
  readonly kubelets: Record<string, number>;
  readonly facts: Record<string, Partial<LinuxFacts>>;
  announced: string;
  kubeProxy: string;
  /** The endpoint for which kube-proxy's pods were started. */
  startedFor?: string;
  /** Pods of kube-proxy of the template of now. */
  updated: number;
  noted: string;
}

export const ok: NewEndpoint = { isHeld: true, whose: 'ours', answer: 'ok' };

const url = (endpoint: string): string => `https://${endpoint}`;

export const fresh = (): World => ({
  confs: {
    cp1: {
      'admin.conf': { server: url(OLD) },
      'super-admin.conf': { server: url(OLD) },
      'controller-manager.conf': { server: url('10.0.0.11:6443') },
      'scheduler.conf': { server: url('10.0.0.11:6443') },
      'kubelet.conf': { server: url('10.0.0.11:6443') },
    },
    w1: { 'kubelet.conf': { server: url(OLD) } },
  },
  answers: { cp1: ok, w1: ok },
  kubelets: { cp1: 100, w1: 100 },
  facts: {},
  announced: url(OLD),
  kubeProxy: url(OLD),
  updated: 2,
  noted: OLD,
});

const kubeconfig = (server: string): string =>
  stringify({ apiVersion: 'v1', kind: 'Config', clusters: [{ name: '', cluster: { server } }], users: [] });

const configOf = (world: World): JsonObject => ({
  apiVersion: 'kubeadm.k8s.io/v1beta4',
  kind: 'ClusterConfiguration',
  clusterName: 'demo',
  controlPlaneEndpoint: world.noted,
  apiServer: { certSANs: ['theirs.example'] },
  networking: { podSubnet: '10.244.0.0/16', serviceSubnet: '10.96.0.0/12', dnsDomain: 'cluster.local' },
});

const objectsOf = (world: World): ReadonlyMap<string, JsonObject> => {
  const object = (of: JsonObject, more: JsonObject): readonly [string, JsonObject] => [
    objectKey(of),
    { ...of, ...more, metadata: { ...(of['metadata'] as JsonObject), resourceVersion: '7', generation: 2 } },
  ];
  const annotations = world.startedFor === undefined ? {} : { 'kbuild.dev/endpoint': world.startedFor };
  return new Map([
    object(CLUSTER_INFO, { data: { kubeconfig: kubeconfig(world.announced) } }),
    object(KUBE_PROXY_CONFIG, { data: { 'kubeconfig.conf': kubeconfig(world.kubeProxy) } }),
    object(KUBEADM_CONFIG, { data: { ClusterConfiguration: stringify(configOf(world)) } }),
    object(KUBE_PROXY, {
      spec: { template: { metadata: { annotations } } },
      status: {
        observedGeneration: 2,
        desiredNumberScheduled: 2,
        updatedNumberScheduled: world.updated,
        numberUnavailable: 2 - world.updated,
      },
    }),
  ]);
};

const service = (startedMs: number) => ({
  load: 'loaded',
  active: 'active',
  enabled: 'enabled',
  startedMs,
  needsDaemonReload: false,
});

const seen = (world: World, host: LinuxHost) =>
  joinedHost(host, {
    kubeconfigServers: new Map(
      Object.entries(world.confs[host.name]!).map(([name, { server, from = 1 }]) => [
        name,
        { server, changedMs: from * 1000 },
      ]),
    ),
    newEndpoint: world.answers[host.name]!,
    services: new Map([['kubelet', service(world.kubelets[host.name]! * 1000)]]),
    ownFiles: [],
    hostsBlock: 'absent',
    ...world.facts[host.name],
  });

export const clusterIn = (world: World, over: Partial<ClusterUp> = {}): ClusterUp =>
  clusterOf({ configuration: configOf(world), nodes: nodesOf(...hosts), objects: objectsOf(world), ...over });

export const fleetOf = (world: World, over: Partial<ClusterUp> = {}): Fleet =>
  fleetIn(clusterIn(world, over), ...hosts.map((host) => seen(world, host)));

/** What a script of kbuild does to the world. */
export function does(world: World, host: string, script: string): void {
  const confs = /^CONFS='?([\w.\n-]+)'?$/m.exec(script)?.[1];
  if (confs !== undefined) {
    for (const name of confs.split('\n')) world.confs[host]![name] = { server: url(NEW) };
    world.answers[host] = 'not asked';
    return;
  }
  const patch = /^printf %s ('?)(\{.*\})\1 \|/s.exec(script)?.[2];
  if (patch === undefined) throw new Error(`the world does not know ${script}`);
  const { data = {}, spec } = JSON.parse(patch.replaceAll(String.raw`'\''`, "'")) as {
    data?: Record<string, string>;
    spec?: { template: { metadata: { annotations: Record<string, string> } } };
  };
  const serverOf = (text: string): string =>
    (parse(text) as { clusters: readonly { cluster: { server: string } }[] }).clusters[0]!.cluster.server;
  if (data['kubeconfig'] !== undefined) world.announced = serverOf(data['kubeconfig']);
  if (data['kubeconfig.conf'] !== undefined) world.kubeProxy = serverOf(data['kubeconfig.conf']);
  if (data['ClusterConfiguration'] !== undefined)
    world.noted = (parse(data['ClusterConfiguration']) as { controlPlaneEndpoint: string }).controlPlaneEndpoint;
  if (spec !== undefined) world.startedFor = spec.template.metadata.annotations['kbuild.dev/endpoint']!;
}
