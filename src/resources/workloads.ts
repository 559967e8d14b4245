import { acting } from '../cluster/acting.ts';
import { CORDONED, isDrained, isMissed, WORKLOADS } from '../cluster/drain-notes.ts';
import { kubectl } from '../configuration/kubectl.ts';
import { CommandError, NotConverged } from '../errors.ts';
import type { NodeView } from '../facts/cluster.ts';
import type { On } from '../remote/remote.ts';
import { registeredNode, REPORT_SECONDS, withWorkloads, type AnyStep, type AnyTarget } from './drain.ts';
import { uncordoned } from './uncordon.ts';
import { script } from '../templates.ts';

/** How long pods may take until as many are ready as before, in seconds. */
const SECONDS_AT_MOST = 600;

/** The time that the job may need beyond that, in ms. */
const ENDS_MS = 60_000;

/** What is waited for, and whether its note goes with it. */
interface Awaited {
  /** The step that waits. */
  readonly step: string;
  /** The kinds of workloads, as a basic regular expression. */
  readonly kinds: string;
  readonly note: 'stays' | 'goes';
}

/** Waits until workloads that were noted before a node was drained have as many ready pods again. @throws NotConverged */
async function areBack({ inventory, fleet, host }: AnyTarget, on: On, { step, kinds, note }: Awaited): Promise<void> {
  const control = acting(fleet);
  const command = withWorkloads(
    script('linux/workloads-back.sh', {
      KUBECTL: kubectl(inventory, control).join(' '),
      ...{ NODE: host.name, NOTE: WORKLOADS, CORDONED, KINDS: kinds, FORGETS: note === 'goes' ? 'yes' : '' },
      ...{ SECONDS_AT_MOST, TELL_SECONDS: REPORT_SECONDS },
    }),
  );
  const title = `wait for the workloads of ${host.name}`;
  const deadlineMs = SECONDS_AT_MOST * 1000 + ENDS_MS;
  try {
    await on(control).job('workloads-back', { ...command, title, about: host.name, deadlineMs });
  } catch (error) {
    if (!(error instanceof CommandError) || typeof error.status !== 'number') throw error;
    throw new NotConverged(
      host.name,
      step,
      [error.stderr.trim()],
      `find out what keeps these pods from being ready, then run the same command again. To go on without them: \`kubectl annotate node ${host.name} ${WORKLOADS}-\``,
    );
  }
}

/** Lets a node take pods again, as soon as its pods of DaemonSets are ready as before. */
export const uncordonedWhenReady = (willDrain: (node: NodeView) => boolean): AnyStep =>
  uncordoned(willDrain, (target, on) => areBack(target, on, { step: 'uncordoned', kinds: 'DaemonSet', note: 'stays' }));

/**
 * Waits until the workloads whose pods had to leave a node have as many ready pods as before, or as they should have now if that is
 * fewer. Until then no other node is drained.
 */
export const workloadsBack = (willDrain: (node: NodeView) => boolean): AnyStep => ({
  name: 'workloads-back',
  diff: (target: AnyTarget) => {
    const node = registeredNode(target);
    // What a node that is drained without a note has lost is not known.
    if (node === undefined || !(isMissed(node) || (!isDrained(node) && willDrain(node)))) return [];
    return [
      {
        summary: `wait until workloads that left ${target.host.name} have as many ready pods as before`,
        apply: (on) => areBack(target, on, { step: 'workloads-back', kinds: '[A-Z][A-Za-z]*', note: 'goes' }),
      },
    ];
  },
});
