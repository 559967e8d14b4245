import { allowsNoneNow, neverAllows, type Budget, type EvictedPod, type PodTrait } from '../facts/upgrade-parts.ts';
import type { Part, UpgradeView } from '../facts/upgrade-view.ts';
import type { DocumentOf } from './documents/index.ts';
import { counted, hostList } from './host-list.ts';
import { addonLines, deprecatedApiLines, nodeLines, webhookLines } from './upgrade-components.ts';
import { some, unknown, warning, type UpgradeScope } from './upgrade-lines.ts';

const inScope =
  ({ nodes }: UpgradeScope) =>
  ({ node }: { readonly node: string }): boolean =>
    nodes?.includes(node) ?? true;

/** The value of a part; undefined if the part is unknown. */
const known = <T>(part: Part<T>): T | undefined => ('value' in part ? part.value : undefined);

/** How many pods each node loses; nodes with the same number share a line. A node without any pod to move is named, too. */
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
      'let each allow one disruption (more replicas, or another budget): the drain of a node with their pods fails at its deadline',
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
    `pods are selected by several PodDisruptionBudgets, so the API server answers every eviction of them with an error (500): ${some(
      pods.map(({ pod, budgets }) => `${pod} (${budgets.join(', ')})`),
    )}`,
    'keep one budget for each pod: until then the drain of their nodes fails',
  );
}

/** What a drain costs the pods with a trait, and what the operator can do. */
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
    'remove the toleration of node.kubernetes.io/unschedulable, unless they may be stopped by the upgrade of the kubelet',
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
 * What an upgrade meets in the cluster, as a plan prints it: pods to evict by node, then what stops or costs something, then
 * what could not be observed. At most five names a line. Empty if there is nothing to say.
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

/** The view as the value of a JSON document: every name, and `{"unknown": REASON}` for a part that could not be observed. */
export function upgradeViewJson(view: UpgradeView): DocumentOf<'upgrade-plan'>['meets'] {
  const of = <T>(part: Part<T>): T | { readonly unknown: string } => ('value' in part ? part.value : part);
  const as = <T, Shown>(part: Part<T>, json: (value: T) => Shown): Shown | { readonly unknown: string } =>
    'value' in part ? json(part.value) : part;
  return {
    evictions: as(view.evictions, ({ perNode, pods }) => ({ perNode: Object.fromEntries(perNode), pods })),
    podDisruptionBudgets: as(view.budgets, (budgets) =>
      budgets.map((budget) => ({ ...budget, neverAllows: neverAllows(budget) })),
    ),
    podsWithSeveralBudgets: of(view.twiceBudgeted),
    webhooks: of(view.webhooks),
    deprecatedApis: Object.fromEntries([...view.deprecatedApis].map(([host, part]) => [host, of(part)])),
    unreadableObjects: of(view.unreadableObjects),
    addons: of(view.addons),
    nodes: of(view.nodes),
    kured: of(view.kured),
  };
}
