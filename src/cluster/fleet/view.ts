import type { TokenUse } from '../../certificates/token-use.facts.ts';
import type { MemberView } from '../../etcd/view.facts.ts';
import type { Taint } from '../../inventory/inventory.ts';
import type { KubeletRequest } from '../../kubeadm/kubelet.facts.ts';
import type { HandlerPod } from '../../runtime/handlers.facts.ts';
import { type JsonObject, within } from '../../shell/decode.ts';

/** A condition of a node that is not as it should be, or that nothing reports: Ready, pressure, network. */
export interface NodeCondition {
  /** e.g. `DiskPressure` */
  readonly type: string;
  /** `True` for pressure, `False` for Ready; `Unknown`: the kubelet has stopped reporting. */
  readonly status: string;
  /** Reason and message, as the node reports them. */
  readonly reason: string;
}

/** A Kubernetes Node as its API shows it. */
export interface NodeView {
  readonly name: string;
  readonly role: 'control-plane' | 'worker';
  readonly ready: boolean;
  /** Why it is not ready; empty when it is. */
  readonly reason: string;
  /** Bad conditions; empty on a node that is well. */
  readonly conditions: readonly NodeCondition[];
  readonly unschedulable: boolean;
  /**
   * When the controller manager tainted the node for its present cordon, as the API writes it; empty without a cordon,
   * and when unknown.
   */
  readonly cordonedAt: string;
  readonly kubeletVersion: string;
  readonly os: string;
  readonly runtime: string;
  readonly internalAddress: string;
  /** As the kubelet read it (/etc/machine-id on Linux); empty when unknown. */
  readonly machineId: string;
  /** Of the boot in which the kubelet reported last; empty when unknown. */
  readonly bootId: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
  readonly taints: readonly Taint[];
}

/** A pod of a system namespace (kube-system and the network plugin's). */
export interface PodView {
  readonly namespace: string;
  readonly name: string;
  readonly node: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly ready: boolean;
  /** Why a container of it does not start, e.g. `ImagePullBackOff: …`; empty if all run or are starting. */
  readonly trouble: string;
  /**
   * When a container of it last (re)started after a termination, ms since the epoch by the API server's host; 0: never.
   */
  readonly lastRestartMs: number;
  /** Images of its containers, as its specification names them. */
  readonly images: readonly string[];
  /** When the oldest running container started, ms since the epoch by the clock of its host; 0: none runs. */
  readonly startedMs: number;
  /** Command and arguments of a static pod's container, with which it runs; missing for all other pods. */
  readonly command?: readonly string[] | undefined;
}

/** True for a pod of kubeadm's CoreDNS. */
export const isDnsPod = ({ labels }: Pick<PodView, 'labels'>): boolean => labels['k8s-app'] === 'kube-dns';

/** An etcd that kbuild built beside the control planes. `down`: there is one, but no member answers with quorum. */
export type EtcdState =
  | { readonly state: 'absent' }
  | { readonly state: 'down'; readonly reason: string }
  | {
      readonly state: 'up';
      /** Name of the host through which it was seen. */
      readonly via: string;
      readonly members: readonly MemberView[];
      readonly alarms: readonly string[];
    };

/** A pod that reads the cluster's CA, and started before the cluster gave it the CAs that it gives now. */
export interface CaReader {
  readonly namespace: string;
  readonly name: string;
  /** What restarts it, as `kind/name` of kubectl; `none` for a pod that nothing replaces. */
  readonly workload: string;
}

/** The cluster that answers. */
export interface ClusterUp {
  readonly state: 'up';
  /** Name of the control-plane host through which it was seen. */
  readonly via: string;
  /**
   * Why commands on that host asked the cluster, and not SSH's own channel; missing if the channel did. No fact
   * depends on it.
   */
  readonly detour?: string | undefined;
  /** That host's clock, ms since the epoch. */
  readonly nowMs: number;
  readonly caFingerprint: string;
  /** Fingerprints of the further CAs that it trusts: there are some while its CA is rotated. */
  readonly otherCas: readonly string[];
  /** `clusterName` of kubeadm's ClusterConfiguration. */
  readonly name: string;
  /** The CAs that the cluster gives its pods, PEM: kube-root-ca.crt of kube-system. Empty if it is not there yet. */
  readonly rootCas: string;
  /**
   * Pods that may have read the CA before the cluster gave them its present ones. Observed only while the CA is
   * rotated.
   */
  readonly caReaders: readonly CaReader[];
  /** Who holds service account tokens. Observed only while their key is rotated. */
  readonly tokenUse: TokenUse;
  /**
   * Pods with further handlers of the runtime on nodes that the inventory takes one from; empty where it takes none.
   */
  readonly handlerPods: readonly HandlerPod[];
  /** Those of `KUBEADM_RULES` that the cluster has, as `KIND/NAME`. */
  readonly kubeadmRules: ReadonlySet<string>;
  /** Without `v`. */
  readonly version: string;
  /** kubeadm's ClusterConfiguration as stored in the cluster. */
  readonly configuration: JsonObject;
  /** CoreDNS's configuration, as kubeadm and the operator keep it; empty if the cluster has none. */
  readonly corefile: string;
  /** The kubelet's configuration as stored in the cluster. */
  readonly kubeletConfiguration: JsonObject;
  readonly nodes: readonly NodeView[];
  readonly pods: readonly PodView[];
  /** `ok` when the API answers at the inventory's endpoint with the cluster's certificate; else why not. */
  readonly endpoint: string;
  readonly members: readonly MemberView[];
  readonly alarms: readonly string[];
  /** The answer of each control plane's own API server to /readyz, by host of the inventory: `ok`, or why not. */
  readonly apiServers: ReadonlyMap<string, string>;
  /** Live objects that the inventory wants, by `objectKey`; a missing key is an absent object. */
  readonly objects: ReadonlyMap<string, JsonObject>;
  /** Keys of objects that kbuild once applied, from its record in the cluster. */
  readonly owned: readonly string[];
  /** The settings that kbuild last gave kubeadm, from its note in the cluster; missing if there is no readable note. */
  readonly settings?: JsonObject | undefined;
  /**
   * What of the settings a run has begun to change and may not have brought to all control planes: parts of them, names
   * of patch files, `etcd` for its arguments. Missing if the last run ended well.
   */
  readonly unfinished?: readonly string[] | undefined;
  /** Ids of bootstrap tokens that kbuild minted and did not delete. */
  readonly leftoverTokens: readonly string[];
  /**
   * Kubelets that wait for a certificate; observed only if kbuild signs client certificates or approves serving
   * certificates.
   */
  readonly kubeletRequests: readonly KubeletRequest[];
  /**
   * The configuration with which the kubelet of each node runs: its file, drop-ins, flags and defaults. A node whose
   * kubelet did not answer is missing.
   */
  readonly kubelets: ReadonlyMap<string, JsonObject>;
}

/** The cluster as its API and etcd show it. `down`: there is one, but it does not answer. */
export type ClusterView = (
  { readonly state: 'absent' } | { readonly state: 'down'; readonly reason: string } | ClusterUp
) & {
  /** Missing unless the inventory has hosts of role etcd: it is there before the API is. */
  readonly etcd?: EtcdState | undefined;
};

/**
 * Parts of the view that are observed only while a step reads one of their fields. Each costs processes on a control
 * plane, and a wait for a node, for example, reads neither etcd nor objects. All other fields are observed each time.
 */
export const CLUSTER_PARTS = {
  nodes: ['nodes'],
  pods: ['pods'],
  etcd: ['members', 'alarms', 'etcd'],
  endpoint: ['endpoint'],
  apiServers: ['apiServers'],
  kubeletRequests: ['kubeletRequests'],
  objects: ['objects'],
  leftoverTokens: ['leftoverTokens'],
  caReaders: ['caReaders'],
  tokenUse: ['tokenUse'],
  handlerPods: ['handlerPods'],
  kubeadmRules: ['kubeadmRules'],
  kubelets: ['kubelets'],
} as const satisfies Readonly<Record<string, readonly (keyof ClusterUp | 'etcd')[]>>;

export type ClusterPart = keyof typeof CLUSTER_PARTS;

export const ALL_CLUSTER_PARTS = Object.keys(CLUSTER_PARTS) as readonly ClusterPart[];

/** Kubectl looks up the kind of each object first, or reads all pods: what a change wants of these, its diff reads. */
const COSTLY: readonly ClusterPart[] = [
  'objects',
  'leftoverTokens',
  'caReaders',
  'tokenUse',
  'handlerPods',
  'kubeadmRules',
  'kubelets',
];

/** The parts that a change may read when it is made, though its diff did not. */
export const PARTS_FOR_CHANGES: readonly ClusterPart[] = ALL_CLUSTER_PARTS.filter((part) => !COSTLY.includes(part));

const PART_OF: ReadonlyMap<string, ClusterPart> = new Map(
  ALL_CLUSTER_PARTS.flatMap((part) => CLUSTER_PARTS[part].map((field) => [field, part] as const)),
);

/** The part that a field of the view belongs to; undefined for a field that is observed each time. */
export const clusterPartOf = (field: string): ClusterPart | undefined => PART_OF.get(field);

/** `apiVersion/kind/namespace/name`, the identity of an object. Throws on an object without them. */
export function objectKey(object: JsonObject): string {
  const { name, namespace } = within(object, 'metadata');
  if (typeof object['apiVersion'] !== 'string' || typeof object['kind'] !== 'string' || typeof name !== 'string')
    throw new TypeError('an object needs apiVersion, kind and metadata.name');
  return `${object['apiVersion']}/${object['kind']}/${typeof namespace === 'string' ? namespace : ''}/${name}`;
}
