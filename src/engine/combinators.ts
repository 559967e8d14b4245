import type { ClusterView } from '../cluster/fleet/view.ts';
import type { LinuxHost, WindowsHost } from '../inventory/inventory.ts';
import type { Command } from '../shell/command.ts';
import type { Change, Step } from './step.ts';

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

/** An API server of a busy or restarted control plane may take that long, in ms. */
const API_BACK_MS = 5 * 60_000;

/**
 * A step of a node that waits while the API does not answer: until it does, the state of the node is unknown. Without the wait, an observation
 * that a busy API leaves unanswered would pass for "nothing to do", and the steps that follow would change a node that was not drained.
 */
export const whenApiAnswers = <K extends 'linux' | 'windows'>(step: Step<K>): Step<K> => ({
  ...step,
  settleMs: Math.max(step.settleMs ?? 0, API_BACK_MS),
  diff: (target) => {
    const { cluster } = target.fleet;
    return cluster.state === 'down' && target.host.role !== 'etcd' ? [waitForApi(cluster)] : step.diff(target);
  },
});
