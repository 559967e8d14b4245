import type { Kind } from '../cluster/fleet/fleet.ts';
import type { ClusterView } from '../cluster/fleet/view.ts';
import type { Inventory, LinuxHost, WindowsHost } from '../inventory/inventory.ts';
import type { Command } from '../shell/command.ts';
import { united } from '../shell/watched.ts';
import { type Change, type Step, type Target, type Unobserved, watchesOf } from './step.ts';

/** The step, where the condition holds. Its facts are observed everywhere. */
export const when = <K extends Kind>(holds: (target: Target<K>) => boolean, step: Step<K>): Step<K> => ({
  ...step,
  diff: (target) => (holds(target) ? step.diff(target) : []),
});

/** The step, where the inventory alone says so. Elsewhere nothing is observed for it. */
export const where = <K extends Kind>(holds: (about: Unobserved<K>) => boolean, step: Step<K>): Step<K> => ({
  ...when(holds, step),
  watches: (about) => (holds(about) ? watchesOf(step, about) : {}),
});

/** The step with other changes, made of its own. */
export const withChanges = <K extends Kind>(
  step: Step<K>,
  changes: (own: readonly Change[], target: Target<K>) => readonly Change[],
): Step<K> => ({ ...step, diff: (target) => changes(step.diff(target), target) });

/** The step with each change turned into another one. */
export const mapChanges = <K extends Kind>(
  step: Step<K>,
  change: (own: Change, target: Target<K>) => Change,
): Step<K> => withChanges(step, (own, target) => own.map((one) => change(one, target)));

/** The step as it is for another inventory. */
export const withInventory = <K extends Kind>(step: Step<K>, inventory: (target: Target<K>) => Inventory): Step<K> => ({
  ...step,
  diff: (target) => step.diff({ ...target, inventory: inventory(target) }),
});

/** Several steps as one, which need no time to settle: their changes are made in this order. */
export const together = <K extends Kind>(name: string, ...steps: readonly Step<K>[]): Step<K> => ({
  name,
  watches: (about) => united(steps.map((step) => watchesOf(step, about))),
  diff: (target) => steps.flatMap((step) => step.diff(target)),
});

/** An `apply` that is one command on one host. */
export const runs =
  (host: LinuxHost, command: Command<'sh'>): NonNullable<Change['apply']> =>
  async (on) => {
    await on(host).run(command);
  };

/** The same on a Windows host. */
export const runsOnWindows =
  (host: WindowsHost, command: Command<'powershell'>): NonNullable<Change['apply']> =>
  async (on) => {
    await on(host).run(command);
  };

/** The wait for a cluster that does not answer: its live settings cannot be compared, and may differ. */
export const waitForApi = ({ reason }: Extract<ClusterView, { readonly state: 'down' }>): Change => ({
  summary: `wait for the API server to answer (${reason})`,
});

/** The step, which waits while the API does not answer, on targets that need it. */
export const orWaitForApi = <K extends 'linux' | 'windows'>(
  step: Step<K>,
  needsApi: (target: Target<K>) => boolean = () => true,
): Step<K> => ({
  ...step,
  diff: (target) => {
    const { cluster } = target.fleet;
    return cluster.state === 'down' && needsApi(target) ? [waitForApi(cluster)] : step.diff(target);
  },
});

/** An API server of a busy or restarted control plane may take that long, in ms. */
const API_BACK_MS = 5 * 60_000;

/**
 * A step of a node that waits while the API does not answer: until it does, the state of the node is unknown. Without
 * the wait, an observation that a busy API leaves unanswered would pass for "nothing to do", and the steps that follow
 * would change a node that was not drained.
 */
export const whenApiAnswers = <K extends 'linux' | 'windows'>(step: Step<K>): Step<K> => ({
  ...orWaitForApi(step, ({ host }) => host.role !== 'etcd'),
  settleMs: Math.max(step.settleMs ?? 0, API_BACK_MS),
});
