import { acting } from '../cluster/acting.ts';
import { kubectl } from '../configuration/kubectl.ts';
import type { Step, Target } from '../engine/step.ts';
import { CommandError } from '../errors.ts';
import type { NodeView } from '../facts/cluster.ts';
import type { Fleet } from '../facts/fleet.ts';
import type { Host, LinuxHost } from '../model/inventory.ts';
import { sh } from '../shell/sh.ts';
import { script } from '../templates.ts';

/** Annotation of a node that kbuild has drained completely. Without it, an interrupted drain continues. */
const DRAINED = 'kbuild.dev/drained';

/** Annotation of a node that kbuild's drain has cordoned, written together with the cordon: an operator's cordon stays. */
const CORDONED = 'kbuild.dev/cordoned';

/** The time that a drain may need after its own time-out, in ms. */
const DRAIN_ENDS_MS = 5 * 60_000;

/** Seconds between two reports of a drain about what it waits for. */
const REPORT_SECONDS = 30;

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
type Any = Pick<Target<'linux' | 'windows'>, 'inventory' | 'fleet' | 'host'>;

/** True for a node that kbuild has drained, and that does not take pods again yet. */
export const isDrained = ({ annotations }: Pick<NodeView, 'annotations'>): boolean => DRAINED in annotations;

/** True for a node with a note of kbuild's drain, which a run that was cut off may have left. */
export const isNoted = (node: Pick<NodeView, 'annotations'> | undefined): boolean =>
  node !== undefined && (DRAINED in node.annotations || CORDONED in node.annotations);

/** What is drained, and how. */
interface DrainOptions {
  readonly drain: Drain;
  readonly isDue: (node: NodeView) => boolean;
  /** True: pods without a controller are deleted, and nothing makes them again. False: they fail the drain. */
  readonly losesPods: boolean;
  /** The control plane that drains it. */
  readonly through: (fleet: Fleet, host: Host) => LinuxHost;
  /** The error of a drain that failed, with what the operator can do. */
  readonly failed: (host: Host, error: CommandError) => Error;
}

/** The node of a host; undefined if it has none, or while the API does not answer. */
export const registeredNode = ({ fleet, host }: Any): NodeView | undefined =>
  fleet.cluster.state === 'up' ? fleet.cluster.nodes.find(({ name }) => name === host.name) : undefined;

/**
 * Drains a node if the API answers. If the drain fails, the node takes pods again, unless an operator had cordoned it.
 * @throws what `failed` makes of the error, which names the pods that stayed and the budgets that keep them
 */
export const drainStep = ({ drain, isDue, losesPods, through, failed }: DrainOptions): AnyStep => ({
  name: 'drained',
  diff: (target: Any) => {
    const node = registeredNode(target);
    if (drain === 'no' || node === undefined || (node.unschedulable && DRAINED in node.annotations)) return [];
    if (!isDue(node)) return [];
    const { inventory, host, fleet } = target;
    const control = through(fleet, host);
    const command = {
      ...script('linux/drain-node.sh', {
        KUBECTL: kubectl(inventory, control).join(' '),
        NODE: host.name,
        SECONDS_TO_DRAIN: Math.ceil(drain.timeoutMs / 1000),
        TELL_SECONDS: REPORT_SECONDS,
        FLAGS: [...(losesPods ? ['--force'] : []), ...(drain.ignoresBudgets === true ? ['--disable-eviction'] : [])],
        DRAINED,
        CORDONED,
      }),
      title: `drain ${host.name}`,
      about: host.name,
      deadlineMs: drain.timeoutMs + DRAIN_ENDS_MS,
    };
    return [
      {
        summary: `drain ${host.name} (found ${node.ready ? 'Ready' : 'not Ready'})`,
        apply: async (on) => {
          try {
            await on(control).job('drain', command);
          } catch (error) {
            if (!(error instanceof CommandError) || typeof error.status !== 'number') throw error;
            throw failed(host, error);
          }
        },
      },
    ];
  },
});

/**
 * Lets a node that kbuild has drained take pods again. An operator's cordon stays. `willDrain`: nodes that an earlier step of
 * the same run drains, so that the plan shows this change.
 */
export const uncordoned = (willDrain: (node: NodeView) => boolean): AnyStep => ({
  name: 'uncordoned',
  diff: (target: Any) => {
    const node = registeredNode(target);
    if (node === undefined) return [];
    if (!isNoted(node) && !willDrain(node)) return [];
    const { inventory, host, fleet } = target;
    const control = acting(fleet);
    const isOurs = CORDONED in node.annotations || !node.unschedulable;
    const patch = JSON.stringify({
      metadata: { annotations: { [DRAINED]: null, [CORDONED]: null } },
      ...(isOurs ? { spec: { unschedulable: null } } : {}),
    });
    return [
      {
        summary: isOurs ? `let ${host.name} take pods again` : `leave ${host.name} cordoned, as an operator wants it`,
        apply: async (on) => {
          await on(control).run(sh`${kubectl(inventory, control)} patch node ${host.name} --type merge -p ${patch}`);
        },
      },
    ];
  },
});
