import { parse as parseYaml } from 'yaml';
import { type JsonObject, objectOf, objectsOf, textIn, within } from '../shell/decode.ts';
import { lines, probe, type Probe, timeOf, unexpected } from '../shell/probe.ts';
import { sh } from '../shell/sh.ts';

/** Fields of a pod template that a manager other than kubeadm set last. */
interface TemplateEdit {
  readonly manager: string;
  /** e.g. `affinity`, `containers[coredns].resources` */
  readonly fields: readonly string[];
}

/** Addons that kubeadm writes again in an upgrade. */
export interface Addons {
  /** Who edited CoreDNS's Deployment; `absent`: there is none; `unknown`: the API does not tell who set its fields. */
  readonly coreDnsEdits: readonly TemplateEdit[] | 'absent' | 'unknown';
  /** Addons that were deleted and that ClusterConfiguration does not disable: kubeadm creates them. */
  readonly comesBack: readonly ('CoreDNS' | 'kube-proxy')[];
}

/** The nodes of the cluster. */
export interface NodesSeen {
  readonly names: readonly string[];
  /** Nodes that take no pods, and that kbuild has not cordoned. */
  readonly cordonedByOperator: readonly string[];
}

/** A node that kured holds its lock for. */
interface KuredLock {
  readonly node: string;
  /** As kured wrote it (RFC 3339). */
  readonly since: string;
  /** When the lock ends by itself, in ms since the epoch; missing for a lock without a limit. */
  readonly untilMs?: number;
}

/** kured's state; `absent`: it is not installed. */
export type Kured = 'absent' | { readonly locks: readonly KuredLock[] };

/** Managers that write CoreDNS's Deployment in a cluster of kubeadm; kbuild only writes what the inventory desires. */
const KNOWN_MANAGERS: ReadonlySet<string> = new Set(['kubeadm', 'kube-controller-manager', 'kbuild']);

/** Set by `kubectl rollout restart`: kubeadm replaces it, and nothing is lost. */
const RESTARTED_AT = 'kubectl.kubernetes.io/restartedAt';

/** Names of the fields in a level of `fieldsV1`, without `f:`; `.` stands for the level itself. */
const namesIn = (fields: JsonObject): readonly string[] =>
  Object.keys(fields)
    .filter((key) => key.startsWith('f:'))
    .map((key) => key.slice(2));

/** Fields of containers: the keys of this list are like `k:{"name":"coredns"}`. */
const containerFields = (list: string, fields: JsonObject): readonly string[] =>
  Object.entries(fields)
    .filter(([key]) => key.startsWith('k:'))
    .flatMap(([key, value]) => {
      const name = textIn(objectOf(JSON.parse(key.slice(2)))['name'], key);
      return namesIn(objectOf(value)).map((field) => `${list}[${name}].${field}`);
    });

/** The fields of a Deployment's pod template that an entry of managedFields owns. */
function templateFields(fieldsV1: unknown): readonly string[] {
  const template = within(within(fieldsV1, 'f:spec'), 'f:template');
  const spec = within(template, 'f:spec');
  return [
    ...['annotations', 'labels'].flatMap((part) =>
      namesIn(within(within(template, 'f:metadata'), `f:${part}`))
        .filter((name) => name !== RESTARTED_AT)
        .map((name) => `${part}[${name}]`),
    ),
    ...namesIn(spec).flatMap((name) =>
      name === 'containers' || name === 'initContainers' ? containerFields(name, within(spec, `f:${name}`)) : [name],
    ),
  ];
}

/**
 * Who owns fields of CoreDNS's pod template. The API may have lost that, e.g. by a restore from manifests: then
 * `unknown`.
 */
function coreDnsEdits(text: string): Addons['coreDnsEdits'] {
  if (text === '') return 'absent';
  const json = text.slice('found '.length).trim();
  const owners = (json === '' ? [] : objectsOf(JSON.parse(json)))
    .map(({ manager, fieldsV1 }) => ({ manager: textIn(manager, ''), fields: templateFields(fieldsV1) }))
    .filter(({ fields }) => fields.length > 0);
  if (owners.length === 0) return 'unknown';
  return owners.filter(({ manager }) => !KNOWN_MANAGERS.has(manager));
}

const isDisabled = (configuration: JsonObject, addon: 'dns' | 'proxy'): boolean =>
  within(configuration, addon)['disabled'] === true;

/** Parses the part `addons` of `upgrade-view.sh`. Throws on other output. */
export function parseAddons(out: string): Addons {
  const [, coreDns, proxy, yaml] = /^coredns ?(.*)\nkube-proxy ?(.*)\n([\s\S]*)$/.exec(out) ?? [];
  const found: unknown = parseYaml(yaml ?? '');
  if (coreDns === undefined || found === null) throw new Error('kubeadm-config has no ClusterConfiguration');
  const configuration = objectOf(found);
  const edits = coreDnsEdits(coreDns);
  return {
    coreDnsEdits: edits,
    comesBack: [
      ...(edits === 'absent' && !isDisabled(configuration, 'dns') ? (['CoreDNS'] as const) : []),
      ...(proxy === '' && !isDisabled(configuration, 'proxy') ? (['kube-proxy'] as const) : []),
    ],
  };
}

/** Parses the part `nodes` of `upgrade-view.sh`. Throws on other output. */
export function parseNodesSeen(out: string): NodesSeen {
  const rows = lines(out).map((row) => row.split(' '));
  if (rows.length === 0 || rows.some((row) => row.length !== 3)) throw new Error('the API sent no nodes');
  return {
    names: rows.map(([name]) => name!),
    cordonedByOperator: rows
      .filter(([, state, note]) => state === 'unschedulable' && note !== 'kbuild')
      .map(([name]) => name!),
  };
}

/**
 * Parses the part `kured` of `upgrade-view.sh`: one lock, or a list of them, as kured writes it (`pkg/daemonsetlock` of
 * kured). TTL is a Go duration: nanoseconds, 0 for no limit. Throws on other output.
 */
export function parseKured(out: string): Kured {
  const text = out.trim();
  if (text === '') return 'absent';
  if (!text.startsWith('found')) throw unexpected(text);
  const json = text.slice('found'.length).trim();
  if (json === '') return { locks: [] };
  const value = objectOf(JSON.parse(json));
  const locks = 'locks' in value ? objectsOf(value['locks']) : [value];
  return {
    locks: locks.map(({ nodeID, created, TTL = 0 }) => {
      if (typeof nodeID !== 'string' || typeof created !== 'string' || typeof TTL !== 'number')
        throw new Error("kured's lock has another form");
      const createdMs = timeOf(created);
      return { node: nodeID, since: created, ...(TTL > 0 ? { untilMs: createdMs + TTL / 1_000_000 } : {}) };
    }),
  };
}

/** An object of kubeadm that joining hosts, kubelets or API servers need. */
interface KubeadmRule {
  /** `KIND/NAME` as kubectl takes it; those with a namespace are in kube-system. */
  readonly object: string;
  /** The first minor whose kubeadm makes it. */
  readonly since: string;
}

const always = (object: string): KubeadmRule => ({ object, since: '1.34' });

/**
 * What `kubeadm init` and `kubeadm upgrade apply` make, and `kubeadm upgrade node` does not (kubeadm 1.34 to 1.37:
 * phases upload-config and bootstrap-token). The approval of certificates and the rules of cluster-info are not among
 * them: kubeadm's documentation has operators delete these.
 */
export const KUBEADM_RULES: readonly KubeadmRule[] = [
  always('role/kubeadm:nodes-kubeadm-config'),
  always('rolebinding/kubeadm:nodes-kubeadm-config'),
  always('role/kubeadm:kubelet-config'),
  always('rolebinding/kubeadm:kubelet-config'),
  always('clusterrole/kubeadm:get-nodes'),
  always('clusterrolebinding/kubeadm:get-nodes'),
  always('clusterrolebinding/kubeadm:kubelet-bootstrap'),
  // From 1.36 on the API server's certificate for kubelets has no group: without this binding there are no logs, no
  // exec and no metrics.
  { object: 'clusterrolebinding/kubeadm:apiserver-kubelet-client', since: '1.36' },
];

/** Those that the cluster has. */
export const kubeadmRulesProbe = (tool: readonly string[]): Probe<ReadonlySet<string>> =>
  probe(
    sh`${tool} -n kube-system get ${KUBEADM_RULES.map(({ object }) => object)} --ignore-not-found -o name`,
    // kubectl prints the API group, too: `role.rbac.authorization.k8s.io/NAME`.
    (out) => new Set(lines(out).map((line) => line.replace(/^([a-z]+)\.[^/]*\//, '$1/'))),
  );
