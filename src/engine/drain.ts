import type { Fleet } from '../cluster/fleet/fleet.ts';
import type { NodeView } from '../cluster/fleet/view.ts';
import { acting } from '../cluster/live.ts';
import { CORDONED, DRAINED, hasStaleNotes, isDrained, WORKLOADS } from '../cluster/nodes.ts';
import { CommandError, NotConverged } from '../errors.ts';
import { kubectl } from '../inventory/api-server.ts';
import type { Host, Inventory, LinuxHost } from '../inventory/inventory.ts';
import { script } from '../templates.ts';
import { runs } from './combinators.ts';
import { hooksFor, runHooks } from './hooks.ts';
import type { Change, Step, Target } from './step.ts';

/** The time that a drain may need after its own time-out, in ms. */
const DRAIN_ENDS_MS = 5 * 60_000;

/** Seconds that volumes get at least to be detached, after the last pod has left the node. */
const VOLUMES_SECONDS = 60;

/** Seconds between two reports of a job about the pods that it waits for. */
export const REPORT_SECONDS = 30;

/** How long the drain of a node may take; `no`: kbuild does not drain it. */
export type Drain =
  | {
      readonly timeoutMs: number;
      /** Pods are deleted in spite of PodDisruptionBudgets. */
      readonly ignoresBudgets?: boolean;
    }
  | 'no';

/** A step that is the same for hosts of both systems. */
export type AnyStep = Step & Step<'windows'>;

/** A target of either system. */
export type AnyTarget = Pick<Target<'linux' | 'windows'>, 'inventory' | 'fleet' | 'host'>;

/**
 * Whether a drain notes the workloads that have pods on the node, so that a later step can wait until they are back.
 */
type Noting = 'notes workloads' | 'notes nothing';

/** What is drained, and how. */
export interface DrainOptions {
  readonly noting: Noting;
  /** A function: what the inventory says. */
  readonly drain: Drain | ((inventory: Inventory) => Drain);
  /** True: pods without a controller are deleted, and nothing makes them again. False: they fail the drain. */
  readonly losesPods: boolean;
  /** The control plane that drains it. */
  readonly through: (fleet: Fleet, host: Host) => LinuxHost;
  /** The error of a drain that failed, with what the operator can do. */
  readonly failed: (host: Host, error: CommandError) => Error;
}

/**
 * What `kubectl drain` is told about a kubelet that does not report, e.g. because the API server of its own host is
 * down: it ends no pod that the API deletes. Where the host is cleaned after the drain (`notes nothing`), its pods end
 * then, so that their time to end is waited for, and no more.
 */
const forSilentKubelet = (node: NodeView, noting: Noting): readonly string[] =>
  noting === 'notes nothing' && node.conditions.some(({ type, status }) => type === 'Ready' && status === 'Unknown')
    ? ['--skip-wait-for-delete-timeout=1']
    : [];

/** The node of a host; undefined if it has none, or while the API does not answer. */
export const registeredNode = ({ fleet, host }: AnyTarget): NodeView | undefined =>
  fleet.cluster.state === 'up' ? fleet.cluster.nodes.find(({ name }) => name === host.name) : undefined;

/** What a script that cordons a node needs. */
const cordonParameters = (
  { inventory, host }: AnyTarget,
  { node, control, noting }: { readonly node: NodeView; readonly control: LinuxHost; readonly noting: Noting },
) => ({
  KUBECTL: kubectl(inventory, control).join(' '),
  NODE: host.name,
  CORDONED,
  WORKLOADS: noting === 'notes workloads' ? WORKLOADS : '',
  // Of an earlier drain, and wrong by now.
  STALE: hasStaleNotes(node) ? [DRAINED, CORDONED, WORKLOADS] : [],
});

/** What a plan says of the hooks around a drain; empty without any. */
const afterHooks = ({ inventory, host }: AnyTarget): string =>
  hooksFor(inventory, 'beforeDrain', host).length === 0 ? '' : 'run the hook beforeDrain, then ';

/**
 * Cordons a node before another one is drained, so that no pod moves twice. The drain follows, and notes what is not
 * noted yet. An operator's cordon stays his.
 */
export const cordoned: AnyStep = {
  name: 'cordoned',
  diff: (target: AnyTarget) => {
    const node = registeredNode(target);
    if (node === undefined || node.unschedulable) return [];
    const control = acting(target.fleet);
    const command = script(
      'engine/cordon-node.sh',
      cordonParameters(target, { node, control, noting: 'notes workloads' }),
    );
    const cordon = runs(control, command);
    return [
      {
        summary: `${afterHooks(target)}cordon ${target.host.name}`,
        drains: true,
        apply: async (on) => {
          await runHooks(target.inventory, 'beforeDrain', target.host, on);
          await cordon(on);
        },
      },
    ];
  },
};

/**
 * Drains a node if the API answers. A node that comes back counts as drained when the volumes of its pods are detached,
 * too. If the drain fails, the node takes pods again, unless an operator had cordoned it.
 * @throws what `failed` makes of the error, which names the pods that stayed and the budgets that keep them, or the
 * volumes
 */
export const drainChanges =
  ({ drain: given, noting, losesPods, through, failed }: DrainOptions) =>
  (target: AnyTarget): readonly Change[] => {
    const drain = typeof given === 'function' ? given(target.inventory) : given;
    const node = registeredNode(target);
    if (drain === 'no' || node === undefined || isDrained(node)) return [];
    const { inventory, host, fleet } = target;
    const control = through(fleet, host);
    const command = {
      ...script('engine/drain-node.sh', {
        ...cordonParameters(target, { node, control, noting }),
        SECONDS_TO_DRAIN: Math.ceil(drain.timeoutMs / 1000),
        VOLUMES_SECONDS,
        TELL_SECONDS: REPORT_SECONDS,
        FLAGS: [
          ...(losesPods ? ['--force'] : []),
          ...(drain.ignoresBudgets === true ? ['--disable-eviction'] : []),
          ...forSilentKubelet(node, noting),
        ],
        DRAINED,
      }),
      title: `drain ${host.name}`,
      about: host.name,
      deadlineMs: drain.timeoutMs + DRAIN_ENDS_MS,
    };
    return [
      {
        summary: `${afterHooks(target)}drain ${host.name} (found ${node.ready ? 'Ready' : 'not Ready'})`,
        ...(noting === 'notes workloads' ? { drains: true as const } : {}),
        apply: async (on) => {
          await runHooks(inventory, 'beforeDrain', host, on);
          try {
            await on(control).job('drain', command);
          } catch (error) {
            if (!(error instanceof CommandError) || typeof error.status !== 'number') throw error;
            throw failed(host, error);
          }
        },
      },
    ];
  };

/** The step of `drainChanges`. */
export const drainStep = (options: DrainOptions): AnyStep => ({ name: 'drained', diff: drainChanges(options) });

/**
 * Drains a node that comes back: its workloads are noted, and pods that no controller makes again stay unless the
 * operator says otherwise. `otherwise`: what the operator can do besides making room for the budgets, one or more
 * sentences. A drain that fails ends with NotConverged.
 */
export const drainForAWhile = (
  options: Pick<DrainOptions, 'drain' | 'losesPods'>,
  otherwise: (host: Host) => string,
): AnyStep =>
  drainStep({
    ...options,
    noting: 'notes workloads',
    // Its own API server serves while its node is drained.
    through: (fleet) => acting(fleet),
    failed: (host, { stderr }) =>
      new NotConverged(
        host.name,
        'drained',
        [stderr.trim()],
        'let the budget allow a disruption (more replicas, or another budget), or delete what keeps the pods, or ' +
          'mend the webhook that refuses to evict them, or the storage driver that keeps the volumes; then run the ' +
          `same command again. ${otherwise(host)}`,
      ),
  });
