import type { Addons, Kured, NodesSeen } from '../upgrade/addons.facts.ts';
import {
  allowsNoneNow,
  type Budget,
  type DeprecatedApi,
  type EvictedPod,
  type FailingWebhook,
  neverAllows,
  type PodTrait,
} from '../upgrade/view-parts.facts.ts';
import type { Part, UpgradeView } from '../upgrade/view.ts';
import { compareVersions, minorOf } from '../versions.ts';
import { counted, hostList } from './text.ts';

/** The target and the hosts of an upgrade. */
interface UpgradeScope {
  /** The desired version, e.g. `1.37.1`. */
  readonly target: string;
  /** The nodes that are drained, in their order; default: all nodes of the cluster. */
  readonly nodes?: readonly string[];
}

/** Names in a line; the JSON of a plan has all of them. */
const NAMES = 5;

/** The first five names, and how many more there are. */
const some = (names: readonly string[]): string =>
  names.length <= NAMES
    ? names.join(', ')
    : `${names.slice(0, NAMES).join(', ')} and ${String(names.length - NAMES)} more`;

/**
 * A line that says what stops an upgrade, or what it costs, and a line that says what to do. None without anything
 * found.
 */
export const warning = (found: readonly unknown[], text: string, remedy: string): readonly string[] =>
  found.length === 0 ? [] : [`! ${text}\n    → ${remedy}\n`];

/** A line that the operator should know, without anything to do. */
export const note = (text: string): string => `- ${text}\n`;

/** A line for what breaks by the upgrade itself. */
export const breaking = (text: string, remedy: string): string => `✖ ${text}\n    → ${remedy}\n`;

/** A line for a part that could not be observed: unknown is never absent. */
export const unknown = (text: string): string => `? unknown: ${text}\n`;

/** `networking.k8s.io/v1beta1 ipaddresses/status` */
const apiName = ({ group, version, resource, subresource }: DeprecatedApi): string =>
  `${group === '' ? '' : `${group}/`}${version} ${resource}${subresource === '' ? '' : `/${subresource}`}`;

/**
 * Deprecated APIs that clients requested, each with the hosts of the API servers that served it. What no release
 * removes yet is left out: Kubernetes' own controllers use some of it (v1 Endpoints).
 */
function deprecatedApiLines(apis: UpgradeView['deprecatedApis'], { target }: UpgradeScope): readonly string[] {
  const seen = new Map<string, { readonly api: DeprecatedApi; readonly hosts: string[] }>();
  for (const [host, part] of apis) {
    for (const api of 'value' in part ? part.value : []) {
      if (api.removedRelease === '') continue;
      const key = `${apiName(api)} ${api.removedRelease}`;
      const entry = seen.get(key) ?? { api, hosts: [] };
      seen.set(key, entry);
      entry.hosts.push(host);
    }
  }
  const isRemoved = ({ removedRelease }: DeprecatedApi): boolean =>
    compareVersions(removedRelease, minorOf(target)) <= 0;
  const sorted = [...seen.values()].toSorted((a, b) => compareVersions(a.api.removedRelease, b.api.removedRelease));
  return sorted.map(({ api, hosts }) =>
    isRemoved(api)
      ? breaking(
          `${apiName(api)} is not served by ${api.removedRelease} any more (requested on ${hostList(hosts)})`,
          "move its clients to a newer version of this API before the upgrade; the API server's audit log names " +
            'them (annotation k8s.io/deprecated)',
        )
      : note(`${apiName(api)} is removed in ${api.removedRelease} (requested on ${hostList(hosts)})`),
  );
}

const hookName = ({ name, service }: FailingWebhook): string =>
  service === undefined ? name : `${name} (service ${service})`;

/** Webhooks whose failure fails requests: those that no endpoint answers now, and those that a drain can take away. */
function webhookLines(webhooks: readonly FailingWebhook[]): readonly string[] {
  const dead = webhooks.filter(({ endpoint }) => endpoint === 'none');
  const served = webhooks.filter(({ endpoint }) => endpoint === 'ready');
  return [
    ...warning(
      dead,
      `webhooks with failurePolicy Fail have no ready endpoint: ${some(dead.map(hookName))}`,
      'make the pods of their services ready, or delete the webhooks: every request that they match fails, ' +
        'evictions and the Job of kubeadm among them',
    ),
    ...(served.length === 0
      ? []
      : [
          note(
            `webhooks with failurePolicy Fail: ${some(served.map(hookName))}; requests that they match fail ` +
              'while none of their pods is ready',
          ),
        ]),
  ];
}

const CONFIGURATION = 'the ClusterConfiguration of ConfigMap kube-system/kubeadm-config';

/** What kubeadm overwrites or creates again. Nothing if the part is unknown. */
function addonLines(addons: Addons | undefined): readonly string[] {
  if (addons === undefined) return [];
  const { coreDnsEdits: edits, comesBack } = addons;
  const edited = typeof edits === 'string' ? [] : edits;
  return [
    ...warning(
      edited,
      `kubeadm overwrites what was edited in Deployment kube-system/coredns: ${edited
        .map(({ manager, fields }) => `${some(fields)} (by ${manager})`)
        .join('; ')}`,
      'to keep it, write it as a patch corednsdeployment.yaml into the folder of `kubeadm.patches`; replicas and ' +
        'the Corefile stay',
    ),
    ...(edits === 'unknown'
      ? [unknown('who set the fields of Deployment kube-system/coredns; kubeadm overwrites all but its replicas')]
      : []),
    ...comesBack.flatMap((addon) =>
      warning(
        [addon],
        `kubeadm creates ${addon} again, which was deleted from this cluster`,
        `to keep it away, set \`${addon === 'CoreDNS' ? 'dns' : 'proxy'}.disabled: true\` in ${CONFIGURATION}`,
      ),
    ),
  ];
}

/** Cordons of the operator, and kured's lock. */
function nodeLines(nodes: NodesSeen | undefined, kured: Kured | undefined, scope: UpgradeScope): readonly string[] {
  const cordoned = (nodes?.cordonedByOperator ?? []).filter((name) => scope.nodes?.includes(name) ?? true);
  const locks = kured === undefined || kured === 'absent' ? [] : kured.locks;
  return [
    ...(cordoned.length === 0 ? [] : [note(`cordoned by an operator, and cordoned afterwards: ${hostList(cordoned)}`)]),
    ...warning(
      locks,
      `kured holds its lock for ${locks.map(({ node, since }) => `${node} (since ${since})`).join(', ')}`,
      'wait until kured has restarted the node and released the lock',
    ),
  ];
}

const inScope =
  ({ nodes }: UpgradeScope) =>
  ({ node }: { readonly node: string }): boolean =>
    nodes?.includes(node) ?? true;

/** The value of a part; undefined if the part is unknown. */
const known = <T>(part: Part<T>): T | undefined => ('value' in part ? part.value : undefined);

/**
 * How many pods each node loses; nodes with the same number share a line. A node without any pod to move is named, too.
 */
function evictionLines(view: UpgradeView, { nodes }: UpgradeScope): readonly string[] {
  const evictions = known(view.evictions);
  if (evictions === undefined) return [];
  const names = nodes ?? known(view.nodes)?.names ?? [...evictions.perNode.keys()].sort();
  const byCount = new Map<number, string[]>();
  for (const name of names) {
    const count = evictions.perNode.get(name) ?? 0;
    byCount.set(count, [...(byCount.get(count) ?? []), name]);
  }
  const each = [...byCount].map(([count, alike]) => `  ${hostList(alike)}: ${counted(count, 'pod')}\n`);
  return each.length === 0 ? [] : [`Pods to evict, of each node\n${each.join('')}`];
}

const UNREADY_STAY = ', its unready pods are not evicted either';

/** Why a budget that never allows an eviction does not. */
function neverReason({ reason, maxUnavailable, minAvailable, desiredHealthy, expectedPods }: Budget): string {
  if (reason === 'SyncFailed') return 'its controller cannot compute it';
  if (maxUnavailable !== undefined && /^0+%?$/.test(maxUnavailable)) return `maxUnavailable ${maxUnavailable}`;
  const setting =
    minAvailable === undefined ? `maxUnavailable ${maxUnavailable ?? '?'}` : `minAvailable ${minAvailable}`;
  return `${setting}: ${desiredHealthy} needed of ${counted(expectedPods, 'pod')}`;
}

function nowReason({ currentHealthy, desiredHealthy, expectedPods, evictsUnhealthy }: Budget): string {
  const stay = currentHealthy < desiredHealthy && evictsUnhealthy === 'within-budget' ? UNREADY_STAY : '';
  return `${currentHealthy} of ${counted(expectedPods, 'pod')} healthy, ${desiredHealthy} needed${stay}`;
}

function budgetLines(view: UpgradeView): readonly string[] {
  const budgets = known(view.budgets) ?? [];
  const never = budgets.filter(neverAllows);
  const now = budgets.filter(allowsNoneNow);
  const named = (list: readonly Budget[], reason: (budget: Budget) => string) =>
    some(list.map((budget) => `${budget.name} (${reason(budget)})`));
  return [
    ...warning(
      never,
      `PodDisruptionBudgets never allow an eviction: ${named(never, neverReason)}`,
      'let each allow one disruption (more replicas, or another budget): the drain of a node with their pods ' +
        'fails at its deadline',
    ),
    ...warning(
      now,
      `PodDisruptionBudgets allow no eviction now: ${named(now, nowReason)}`,
      'make their pods ready: a drain waits until they are, or fails at its deadline',
    ),
  ];
}

function twiceLines(view: UpgradeView, scope: UpgradeScope): readonly string[] {
  const pods = (known(view.twiceBudgeted) ?? []).filter(inScope(scope));
  return warning(
    pods,
    'pods are selected by several PodDisruptionBudgets, so the API server answers every eviction of them with an ' +
      `error (500): ${some(pods.map(({ pod, budgets }) => `${pod} (${budgets.join(', ')})`))}`,
    'keep one budget for each pod: until then the drain of their nodes fails',
  );
}

/** The cost of a drain for pods with a trait, and the operator's remedy. */
const COSTS: readonly (readonly [PodTrait, string, string])[] = [
  [
    'no-controller',
    'pods have no controller, so a drain deletes them for good',
    'make each of them part of a Deployment or StatefulSet, or create it again after the upgrade',
  ],
  ['empty-dir', 'pods lose the data of their emptyDir volumes', 'save what has to stay before the upgrade'],
  [
    'local-volume',
    'pods have a volume on their node, so they stay away until the node is back',
    'make sure that their service can do without them for the upgrade of one node',
  ],
  [
    'tolerates-cordon',
    'pods tolerate a cordon, so their successors may start on the drained node again',
    'remove the toleration of node.kubernetes.io/unschedulable, unless they may be stopped by the upgrade of the ' +
      'kubelet',
  ],
];

function podLines(view: UpgradeView, scope: UpgradeScope): readonly string[] {
  const pods: readonly EvictedPod[] = (known(view.evictions)?.pods ?? []).filter(inScope(scope));
  return COSTS.flatMap(([trait, text, remedy]) => {
    const found = pods.filter(({ traits }) => traits.includes(trait));
    return warning(found, `${text}: ${some(found.map(({ pod, node }) => `${pod} (${node})`))}`, remedy);
  });
}

/** Parts that could not be observed: none of them is taken for empty. */
function unknownLines(view: UpgradeView): readonly string[] {
  const parts: readonly Part<unknown>[] = [
    ...[view.evictions, view.budgets, view.twiceBudgeted, view.webhooks],
    ...view.deprecatedApis.values(),
    ...[view.unreadableObjects, view.addons, view.nodes, view.kured],
  ];
  return parts.flatMap((part) => ('unknown' in part ? [unknown(part.unknown)] : []));
}

/**
 * What an upgrade meets in the cluster, as a plan prints it: pods to evict by node, then what stops or costs something,
 * then what could not be observed. At most five names a line. Empty if there is nothing to say.
 */
export function upgradeViewText(view: UpgradeView, scope: UpgradeScope): string {
  const found = [
    ...deprecatedApiLines(view.deprecatedApis, scope),
    ...budgetLines(view),
    ...twiceLines(view, scope),
    ...podLines(view, scope),
    ...webhookLines(known(view.webhooks) ?? []),
    ...addonLines(known(view.addons)),
    ...nodeLines(known(view.nodes), known(view.kured), scope),
    ...unknownLines(view),
  ];
  const blocks = [...evictionLines(view, scope), ...(found.length === 0 ? [] : [`In the cluster\n${found.join('')}`])];
  return blocks.join('\n');
}
