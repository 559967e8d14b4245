import { lines, unexpected, wordOf } from '../shell/probe.ts';
import { excerpt } from '../shell/text.ts';

/**
 * Why a drain costs a pod something. `no-controller`: no controller makes the pod again. `empty-dir`: its emptyDir
 * volumes are deleted with it. `local-volume`: its volume lies on this node, so it starts nowhere else.
 * `tolerates-cordon`: the scheduler may put its successor on the drained node again.
 */
export type PodTrait = 'no-controller' | 'empty-dir' | 'local-volume' | 'tolerates-cordon';

/** A pod that a drain moves. */
export interface EvictedPod {
  readonly node: string;
  /** `namespace/name` */
  readonly pod: string;
  readonly traits: readonly PodTrait[];
}

/** What drains move: neither pods of DaemonSets nor static pods nor finished ones. */
export interface Evictions {
  /** Pods by node; a node without any is missing. */
  readonly perNode: ReadonlyMap<string, number>;
  /** Only pods with a trait. */
  readonly pods: readonly EvictedPod[];
}

/** A PodDisruptionBudget. The counts are those of its controller (`policy/v1` PodDisruptionBudgetStatus). */
export interface Budget {
  /** `namespace/name` */
  readonly name: string;
  readonly disruptionsAllowed: number;
  readonly currentHealthy: number;
  readonly desiredHealthy: number;
  readonly expectedPods: number;
  /** A number or a percentage. */
  readonly minAvailable?: string;
  /** A number or a percentage. */
  readonly maxUnavailable?: string;
  readonly evictsUnhealthy: 'always' | 'within-budget';
  /** Reason of its condition DisruptionAllowed, e.g. `SyncFailed`; empty without the condition. */
  readonly reason: string;
}

/**
 * A pod that several budgets select: the API answers its eviction with 500 (kubernetes
 * `registry/core/pod/storage/eviction.go`).
 */
export interface TwiceBudgeted {
  readonly node: string;
  /** `namespace/name` */
  readonly pod: string;
  /** Names of budgets in the pod's namespace. */
  readonly budgets: readonly string[];
}

/** A webhook whose failure fails the request. */
export interface FailingWebhook {
  readonly kind: string;
  readonly configuration: string;
  readonly name: string;
  /** `namespace/name`; missing for a webhook by URL. */
  readonly service?: string;
  /** Whether the service has a ready endpoint; `url`: kbuild cannot know. */
  readonly endpoint: 'ready' | 'none' | 'url';
}

/** A deprecated API that was requested since the API server started. */
export interface DeprecatedApi {
  /** Empty for the core group. */
  readonly group: string;
  readonly version: string;
  readonly resource: string;
  /** Empty for the resource itself. */
  readonly subresource: string;
  /** The first minor that does not serve it; empty if no release removes it yet. */
  readonly removedRelease: string;
}

/** Objects of an API version that alone serves their kind. */
export interface StoredObjects {
  /** As kubectl takes it: `Workload.v1alpha2.scheduling.k8s.io` */
  readonly api: string;
  readonly count: number;
}

/** A flag in the manifest of a static pod, as its mirror in the API shows it. */
export interface ManifestFlag {
  readonly node: string;
  /** e.g. `kube-apiserver` */
  readonly component: string;
  /** Without dashes. */
  readonly flag: string;
}

const traitOf = wordOf('no-controller', 'empty-dir', 'local-volume', 'tolerates-cordon');

/** A row's words. Throws if it has fewer than `count`. */
function words(row: string, count: number): readonly string[] {
  const found = row.split(' ');
  if (found.length < count) throw unexpected(row);
  return found;
}

/** A number of a row. Throws on any other text. */
function count(text: string | undefined): number {
  if (text === undefined || !/^\d+$/.test(text)) throw new Error(`not a number: ${excerpt(String(text))}`);
  return Number(text);
}

/** Parses the part `pods` of `upgrade-view.sh`. Throws on other output. */
export function parseEvictions(out: string): Evictions {
  const perNode = new Map<string, number>();
  const pods: EvictedPod[] = [];
  for (const row of lines(out)) {
    const [kind, node, third, traits = ''] = words(row, 3);
    if (kind === 'node') perNode.set(node!, count(third));
    else if (kind === 'pod') pods.push({ node: node!, pod: third!, traits: traits.split(',').map(traitOf) });
    else throw unexpected(row);
  }
  return { perNode, pods };
}

/** Parses the part `objects` of `upgrade-view.sh`. Throws on other output. */
export const parseObjects = (out: string): readonly StoredObjects[] =>
  lines(out).map((row) => {
    const [api, number] = words(row, 2);
    return { api: api!, count: count(number) };
  });

const MISSING = '<nil>';

/** Parses the part `flags` of `upgrade-view.sh`. Throws on other output. */
export const parseFlags = (out: string): readonly ManifestFlag[] =>
  lines(out).map((row) => {
    const [node, component, flag] = words(row, 3);
    return { node: node!, component: component!, flag: flag! };
  });

/** Parses the part `budgets` of `upgrade-view.sh`. Throws on other output. */
export const parseBudgets = (out: string): readonly Budget[] =>
  lines(out).map((row) => {
    const [namespace, name, allowed, healthy, desired, expected, min, max, policy, reason] = words(row, 11);
    return {
      name: `${namespace!}/${name!}`,
      disruptionsAllowed: count(allowed),
      currentHealthy: count(healthy),
      desiredHealthy: count(desired),
      expectedPods: count(expected),
      ...(min === MISSING ? {} : { minAvailable: min! }),
      ...(max === MISSING ? {} : { maxUnavailable: max! }),
      evictsUnhealthy: policy === 'AlwaysAllow' ? 'always' : 'within-budget',
      reason: reason === '-' ? '' : reason!,
    };
  });

/**
 * True if the budget allows no eviction even when all of its pods are healthy, or if its controller cannot compute it
 * (`SyncFailed`, e.g. maxUnavailable for pods without a controller).
 */
export const neverAllows = ({ expectedPods, desiredHealthy, reason }: Budget): boolean =>
  reason === 'SyncFailed' || (expectedPods > 0 && desiredHealthy >= expectedPods);

/** True if the budget has pods, allows no eviction now, and would allow one with all of its pods healthy. */
export const allowsNoneNow = (budget: Budget): boolean =>
  budget.disruptionsAllowed === 0 && budget.expectedPods > 0 && !neverAllows(budget);

/** Parses the part `twice` of `upgrade-view.sh`. Throws on other output. */
export const parseTwice = (out: string): readonly TwiceBudgeted[] =>
  lines(out).map((row) => {
    const [node, pod, budgets] = words(row, 3);
    return { node: node!, pod: pod!, budgets: budgets!.split(',') };
  });

/** Parses the part `webhooks` of `upgrade-view.sh`. Throws on other output. */
export function parseWebhooks(out: string): readonly FailingWebhook[] {
  const rows = lines(out).map((row) => words(row, 3));
  const ready = new Set(rows.flatMap(([kind, namespace, name]) => (kind === 'ready' ? `${namespace!}/${name!}` : [])));
  return rows
    .filter(([kind]) => kind !== 'ready')
    .map((row) => {
      const [word, kind, configuration, name, namespace, service] = row;
      if (word !== 'hook' || service === undefined) throw unexpected(row.join(' '));
      const hook = { kind: kind!, configuration: configuration!, name: name! };
      if (service === '-') return { ...hook, endpoint: 'url' };
      const full = `${namespace!}/${service}`;
      return { ...hook, service: full, endpoint: ready.has(full) ? 'ready' : 'none' };
    });
}

/** Parses the part `apis` of `upgrade-view.sh`, lines of the Prometheus text format. Throws if the end is missing. */
export function parseDeprecatedApis(out: string): readonly DeprecatedApi[] {
  const rows = lines(out);
  if (rows.at(-1) !== 'end') throw new Error('the metrics were not read whole');
  return rows.slice(0, -1).flatMap((row) => {
    const [, labels, value] = /^apiserver_requested_deprecated_apis\{(.*)\} (\S+)$/.exec(row) ?? [];
    if (labels === undefined) throw unexpected(row);
    const label = (name: string): string => new RegExp(`(?:^|,)${name}="([^"]*)"`).exec(labels)?.[1] ?? '';
    if (Number(value) === 0) return [];
    return {
      ...{ group: label('group'), version: label('version'), resource: label('resource') },
      ...{ subresource: label('subresource'), removedRelease: label('removed_release') },
    };
  });
}
