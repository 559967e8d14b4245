import { parse as parseYaml } from 'yaml';
import { FactError } from '../../errors.ts';
import { type EtcdView, parseEtcd } from '../../etcd/view.facts.ts';
import { ADMIN_CONF, SUPER_ADMIN_CONF } from '../../inventory/api-server.ts';
import { controlPlanes } from '../../inventory/hosts.ts';
import type { Inventory, LinuxHost } from '../../inventory/inventory.ts';
import { settingsNote } from '../../kubeadm/marker.facts.ts';
import { paths } from '../../paths.ts';
import { type JsonObject, objectOf } from '../../shell/decode.ts';
import { lines } from '../../shell/probe.ts';
import { excerpt } from '../../shell/text.ts';
import type { Told } from './channel.ts';
import { clusterAnswers, etcdAnswer } from './cluster-answers.ts';
import type { Observed } from './fleet.ts';
import { factsFrom, MOST_OF_CLUSTER } from './framed-script.ts';
import type { Forward } from './https-peer.ts';
import { hasControlPlane } from './joined.ts';
import type { LinuxFacts } from './linux.ts';
import { byWantedKey, unready } from './objects.ts';
import type { Ask, ObserveTools } from './observe-linux.ts';
import { RECORD, SETTINGS } from './ownership.ts';
import { type ClusterFacts, clusterProbes } from './probes.ts';
import { ALL_CLUSTER_PARTS, type ClusterPart, type ClusterUp, type ClusterView, type EtcdState } from './view.ts';

/** True if the host has been made a member of etcd; a text: why that is unknown. */
function hasMember({ facts }: Extract<Observed, { readonly os: 'linux' }>): boolean | string {
  try {
    return facts.kubernetesTraces.has(paths.etcdManifest);
  } catch (error) {
    if (error instanceof FactError) return error.message;
    throw error;
  }
}

/** Time and randomness of an observation, and the way to ask without a command on the host. */
interface ClusterTools extends ObserveTools {
  /** Missing where only commands are run. */
  readonly forward?: ((host: LinuxHost) => Forward) | undefined;
  /** What a control plane has told of itself beside its facts. */
  readonly told?: ((host: LinuxHost) => Told | undefined) | undefined;
}

/**
 * The etcd that kbuild built beside the control planes, as the first of its members that answers shows it; undefined
 * where the inventory has none. Every member's answer counts: without quorum no member gives one. Does not reject.
 */
export async function observeEtcd(
  inventory: Inventory,
  hosts: readonly Observed[],
  ask: (host: LinuxHost) => Ask,
  { nonce, forward }: Pick<ClusterTools, 'nonce' | 'forward'>,
): Promise<EtcdState | undefined> {
  if (inventory.etcd.topology !== 'built') return undefined;
  const reasons: string[] = [];
  for (const observed of hosts) {
    if (observed.os !== 'linux' || observed.host.role !== 'etcd') continue;
    const { host } = observed;
    const has = hasMember(observed);
    if (has === false) continue;
    if (typeof has === 'string') {
      reasons.push(has);
      continue;
    }
    try {
      const reach = { ask: ask(host), forward: forward?.(host), nonce };
      return { state: 'up', via: host.name, ...parseEtcd(await etcdAnswer(inventory, host, reach)) };
    } catch (error) {
      reasons.push(`${host.name}: ${error instanceof Error ? error.message : String(error)}`);
    }
  }
  return reasons.length === 0 ? { state: 'absent' } : { state: 'down', reason: reasons.join('; ') };
}

/** Facts of hosts that decide where the cluster is observed. */
export const clusterFacts: readonly (keyof LinuxFacts)[] = ['kubernetesTraces'];

const yamlOf = (text: string | undefined): JsonObject => (text === undefined ? {} : objectOf(parseYaml(text) ?? {}));

/** The view of an etcd that kbuild built. @throws FactError if no member answers */
function answered(host: LinuxHost, etcd: EtcdState): EtcdView {
  if (etcd.state === 'down') throw new FactError(host.name, 'etcd', etcd.reason);
  return etcd.state === 'up' ? etcd : { members: [], alarms: [] };
}

/** What ConfigMaps of kubeadm and kbuild say of the cluster. Throws for a half-made cluster. */
function notedIn(configMaps: ClusterFacts['configMaps']) {
  const stored = configMaps.get('kubeadm-config')?.['ClusterConfiguration'];
  if (stored === undefined)
    throw new Error('the API answers, but kubeadm-config is missing: its init has not finished');
  const configuration = yamlOf(stored);
  return {
    name: typeof configuration['clusterName'] === 'string' ? configuration['clusterName'] : 'kubernetes',
    version: String(configuration['kubernetesVersion']).replace(/^v/, ''),
    configuration,
    rootCas: configMaps.get('kube-root-ca.crt')?.['ca.crt'] ?? '',
    corefile: configMaps.get('coredns')?.['Corefile'] ?? '',
    kubeletConfiguration: yamlOf(configMaps.get('kubelet-config')?.['kubelet']),
    owned: lines(configMaps.get(RECORD.name)?.[RECORD.key] ?? ''),
    settings: settingsNote(configMaps.get(SETTINGS.name)?.[SETTINGS.key]),
    unfinished: lines(configMaps.get(SETTINGS.name)?.[SETTINGS.unfinished] ?? ''),
  } satisfies Partial<ClusterUp>;
}

const liveObjects = (facts: ClusterFacts): readonly JsonObject[] =>
  Object.keys(facts)
    .filter((name) => name.startsWith('objects'))
    .flatMap((name) => (facts as Readonly<Record<string, unknown>>)[name] as readonly JsonObject[]);

/** What each API server answered. That of the host has just answered. */
const answering = (host: LinuxHost, { apiServers }: ClusterFacts): ClusterUp['apiServers'] =>
  new Map([[host.name, 'ok'], ...apiServers]);

/** What a view is made of besides the answers. */
interface Beside {
  readonly wanted: readonly JsonObject[];
  readonly built: EtcdState | undefined;
  readonly detour: string | undefined;
}

/**
 * The view that the answers give. What did not answer throws `FactError` when it is read. Throws for a half-made
 * cluster.
 */
function viewOf(host: LinuxHost, facts: ClusterFacts, { wanted, built, detour }: Beside): ClusterUp {
  const etcd = () => (built === undefined ? facts.etcd : answered(host, built));
  return {
    ...{ state: 'up' as const, via: host.name },
    ...(detour === undefined ? {} : { detour }),
    ...notedIn(facts.configMaps),
    get nodes() {
      return facts.nodes;
    },
    get nowMs() {
      return facts.nowMs;
    },
    get caFingerprint() {
      return facts.ca.first;
    },
    get caReaders() {
      return facts.caReaders;
    },
    get tokenUse() {
      return facts.tokenUse;
    },
    get handlerPods() {
      return facts.handlerPods;
    },
    get kubeadmRules() {
      return facts.kubeadmRules;
    },
    get otherCas() {
      return facts.ca.others;
    },
    get pods() {
      return [...facts.systemPods, ...facts.pluginPods];
    },
    get endpoint() {
      return facts.endpoint;
    },
    get members() {
      return etcd().members;
    },
    get alarms() {
      return etcd().alarms;
    },
    get apiServers() {
      return answering(host, facts);
    },
    get leftoverTokens() {
      return facts.tokens;
    },
    get kubelets() {
      return facts.kubelets;
    },
    get kubeletRequests() {
      return facts.kubeletRequests;
    },
    get objects() {
      return byWantedKey(wanted, liveObjects(facts));
    },
  };
}

/** Characters of a reason. */
const MOST_OF_REASON = 600;

/** Why a control plane gave no view, in one line. */
function reasonOf(host: LinuxHost, error: unknown): string {
  const text = error instanceof Error ? error.message : String(error);
  return excerpt(/\n|\[-\]/.test(text) ? `${host.name}: ${unready(text)}` : text, MOST_OF_REASON);
}

/** With which kubeconfig the cluster can be observed on a host. `lost`: a control plane runs there, and has none. */
type Way = 'admin' | 'super-admin' | 'lost' | 'none' | { readonly unknown: string };

function wayOf({ host, facts }: Extract<Observed, { readonly os: 'linux' }>): Way {
  if (host.role !== 'control-plane') return 'none';
  try {
    const { kubernetesTraces } = facts;
    if (kubernetesTraces.has(ADMIN_CONF)) return 'admin';
    if (kubernetesTraces.has(SUPER_ADMIN_CONF)) return 'super-admin';
    return hasControlPlane(kubernetesTraces) ? 'lost' : 'none';
  } catch (error) {
    if (error instanceof FactError) return { unknown: error.message };
    throw error;
  }
}

const BY_PREFERENCE: readonly Way[] = ['admin', 'super-admin'];

/** The control planes on which the cluster can be observed, those with the right kubeconfig first. */
function waysOf(hosts: readonly Observed[]) {
  const all = hosts.flatMap((observed) =>
    observed.os === 'linux' ? [{ host: observed.host, way: wayOf(observed) }] : [],
  );
  const sorted = BY_PREFERENCE.flatMap((way) => all.filter((one) => one.way === way));
  return [...sorted, ...all.filter(({ way }) => way !== 'none' && !BY_PREFERENCE.includes(way))];
}

/** True if the view tells the members of etcd, or that they are the user's to know. */
function knowsEtcd(view: ClusterUp): boolean {
  try {
    Reflect.get(view, 'members');
    return true;
  } catch (error) {
    if (error instanceof FactError) return false;
    throw error;
  }
}

const lostText = ({ name }: LinuxHost): string =>
  `${name}: a control plane runs there, and its ${ADMIN_CONF} is gone; \`kbuild up\` makes it again`;

/** The part of the view that a probe is for; undefined for a probe that is always run. */
function partOf(probe: string): ClusterPart | undefined {
  if (probe.startsWith('objects')) return 'objects';
  const others: Readonly<Record<string, ClusterPart>> = {
    systemPods: 'pods',
    pluginPods: 'pods',
    tokens: 'leftoverTokens',
  };
  return others[probe] ?? ALL_CLUSTER_PARTS.find((part) => part === probe);
}

/**
 * The cluster as its API and etcd show it, observed through the first control plane that answers for both, or else for
 * the API. Of its parts only `parts` are observed; reading another one throws FactError. `absent` if no host has a
 * control plane; `down` if a host has one, and none answers. Does not reject.
 */
export async function observeCluster(
  inventory: Inventory,
  hosts: readonly Observed[],
  ask: (host: LinuxHost) => Ask,
  wanted: readonly JsonObject[],
  { nowMs, nonce, forward, told }: ClusterTools,
  parts: readonly ClusterPart[] = ALL_CLUSTER_PARTS,
): Promise<ClusterView> {
  const reasons: string[] = [];
  /** The view of a control plane on which etcdctl cannot run, e.g. because its runtime is stopped. */
  let withoutEtcd: ClusterUp | undefined;
  const isEtcdAsked = parts.includes('etcd');
  const asking = isEtcdAsked ? observeEtcd(inventory, hosts, ask, { nonce, forward }) : Promise.resolve(undefined);
  const seen = async <V extends object>(view: V) => {
    const etcd = await asking;
    return etcd === undefined ? view : Object.defineProperty(view, 'etcd', { value: etcd, enumerable: true });
  };
  for (const { host, way } of waysOf(hosts)) {
    if (way !== 'admin' && way !== 'super-admin') {
      reasons.push(typeof way === 'object' ? way.unknown : lostText(host));
      continue;
    }
    try {
      const probes = clusterProbes(inventory, host, wanted);
      const asked = Object.fromEntries(
        Object.entries(probes).filter(([name]) => {
          const part = partOf(name);
          return part === undefined || parts.includes(part);
        }),
      );
      const from = nowMs();
      const reach = { ask: ask(host), forward: forward?.(host), nonce, told: told?.(host) };
      const { answers, detour } = await clusterAnswers(inventory, host, asked, reach);
      const facts = factsFrom(host.name, probes, answers, { middleMs: (from + nowMs()) / 2 }, MOST_OF_CLUSTER);
      // An API server that answers and does not tell its nodes is not one to go by.
      if (parts.includes('nodes')) Reflect.get(facts, 'nodes');
      const view = viewOf(host, facts, { wanted, built: await asking, detour });
      // With other control planes, one on which etcd cannot be asked is not the first choice.
      if (controlPlanes(inventory).length === 1 || !isEtcdAsked || knowsEtcd(view)) return await seen(view);
      withoutEtcd ??= view;
    } catch (error) {
      reasons.push(reasonOf(host, error));
    }
  }
  if (withoutEtcd !== undefined) return seen(withoutEtcd);
  return seen<ClusterView>(reasons.length === 0 ? { state: 'absent' } : { state: 'down', reason: reasons.join('; ') });
}
