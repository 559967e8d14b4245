import type { NodeView } from '../cluster/fleet/view.ts';
import { acting } from '../cluster/live.ts';
import { CORDON_TAINT, CORDONED, cordonOwner, DRAINED, isDrained, isMissed, WORKLOADS } from '../cluster/nodes.ts';
import { CommandError, NotConverged } from '../errors.ts';
import { kubectl } from '../inventory/api-server.ts';
import { sh } from '../shell/sh.ts';
import type { On } from '../ssh/remote.ts';
import { script } from '../templates.ts';
import { type AnyTarget, registeredNode, REPORT_SECONDS } from './drain.ts';
import { hooksFor, runHooks } from './hooks.ts';
import type { Step, Target } from './step.ts';

/** What a plan says of the hook after the node takes pods again; empty without one. */
const thenHooks = ({ inventory, host }: AnyTarget): string =>
  hooksFor(inventory, 'afterUncordon', host).length === 0 ? '' : ', then run the hook afterUncordon';

/**
 * True for a node that is not cordoned any more, whose taint of the cordon the controller manager has not removed yet.
 */
const keepsPodsAway = ({ unschedulable, taints }: NodeView): boolean =>
  !unschedulable && taints.some(({ key }) => key === CORDON_TAINT);

/**
 * Lets a node that kbuild has drained take pods again. An operator's cordon stays. `willDrain`: targets whose node an
 * earlier step of the same run drains, so that the plan shows this change. `before`: what is waited for first.
 */
export const uncordoned = <K extends 'linux' | 'windows'>(
  willDrain: (target: Target<K>) => boolean,
  before: (target: AnyTarget, on: On) => Promise<void> = () => Promise.resolve(),
): Step<K> => ({
  name: 'uncordoned',
  settleMs: 2 * 60_000,
  diff: (target) => {
    const node = registeredNode(target);
    if (node === undefined) return [];
    const hasNote = DRAINED in node.annotations || CORDONED in node.annotations;
    if (!hasNote && !willDrain(target))
      return keepsPodsAway(node) ? [{ summary: `wait until pods can be placed on ${node.name} again` }] : [];
    const { inventory, host, fleet } = target;
    const control = acting(fleet);
    const owner = node.unschedulable ? cordonOwner(node) : 'kbuild';
    const isOurs = owner === 'kbuild';
    const patch = JSON.stringify({
      metadata: { annotations: { [DRAINED]: null, [CORDONED]: null } },
      ...(isOurs ? { spec: { unschedulable: null } } : {}),
    });
    return [
      {
        summary: {
          kbuild: `let ${host.name} take pods again${thenHooks(target)}`,
          operator: `leave ${host.name} cordoned, as an operator wants it`,
          unknown:
            `leave ${host.name} cordoned: an older kbuild did not note which cordon was its own (to end it: ` +
            `kubectl uncordon ${host.name})`,
        }[owner],
        apply: async (on) => {
          await before(target, on);
          const patched = (content: string) =>
            on(control).run(sh`${kubectl(inventory, control)} patch node ${host.name} --type merge -p ${content}`);
          if (isOurs) {
            // The notes stay until the hook has ended: a run that is cut off here is finished by the next one.
            if (hooksFor(inventory, 'afterUncordon', host).length > 0)
              await patched(JSON.stringify({ spec: { unschedulable: null } }));
            await runHooks(inventory, 'afterUncordon', host, on);
          }
          await patched(patch);
        },
      },
    ];
  },
});

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

/**
 * Waits until workloads that were noted before a node was drained have as many ready pods again. @throws NotConverged
 */
async function areBack({ inventory, fleet, host }: AnyTarget, on: On, { step, kinds, note }: Awaited): Promise<void> {
  const control = acting(fleet);
  const command = script('engine/workloads-back.sh', {
    KUBECTL: kubectl(inventory, control).join(' '),
    ...{ NODE: host.name, NOTE: WORKLOADS, CORDONED, KINDS: kinds, FORGETS: note === 'goes' ? 'yes' : '' },
    ...{ SECONDS_AT_MOST, TELL_SECONDS: REPORT_SECONDS },
  });
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
      'find out what keeps these pods from being ready, then run the same command again. To go on without them: ' +
        `\`kubectl annotate node ${host.name} ${WORKLOADS}-\``,
    );
  }
}

/** Lets a node take pods again, as soon as its pods of DaemonSets are ready as before. */
export const uncordonedWhenReady = <K extends 'linux' | 'windows'>(
  willDrain: (target: Target<K>) => boolean,
): Step<K> =>
  uncordoned(willDrain, (target, on) => areBack(target, on, { step: 'uncordoned', kinds: 'DaemonSet', note: 'stays' }));

/**
 * Waits until the workloads whose pods had to leave a node have as many ready pods as before, or as they should have
 * now if that is fewer. Until then no other node is drained.
 */
export const workloadsBack = <K extends 'linux' | 'windows'>(willDrain: (target: Target<K>) => boolean): Step<K> => ({
  name: 'workloads-back',
  diff: (target) => {
    const node = registeredNode(target);
    // What a node that is drained without a note has lost is not known.
    if (node === undefined || !(isMissed(node) || (!isDrained(node) && willDrain(target)))) return [];
    return [
      {
        summary: `wait until workloads that left ${target.host.name} have as many ready pods as before`,
        apply: (on) => areBack(target, on, { step: 'workloads-back', kinds: '[A-Z][A-Za-z]*', note: 'goes' }),
      },
    ];
  },
});
