import { isDeepStrictEqual } from 'node:util';
import { passRestartGate } from '../cluster/restart-gate.ts';
import { standing } from '../cluster/standing.ts';
import { mapChanges, orWaitForApi, when, withInventory } from '../engine/combinators.ts';
import { registeredNode } from '../engine/drain.ts';
import {
  isChanging,
  noteForgotten,
  noteWritten,
  RUNTIME_CHANGE,
  runtimeChangeNote,
  whileNoted,
} from '../engine/note.ts';
import { awayFrom, drainedByUp, type NodeChange, othersAreBack } from '../engine/rolling.ts';
import type { Step, Target } from '../engine/step.ts';
import { NotConverged } from '../errors.ts';
import type { Inventory } from '../inventory/inventory.ts';
import { sh } from '../shell/sh.ts';
import { driverChange } from './cgroup-driver.step.ts';
import { moveGates, newRuntimeAnswers, pendingMove, runtimeMoved, runtimeRetired } from './change.step.ts';
import { runtimePackageStep, runtimeSteps } from './runtimes.step.ts';
import { containerRuntime } from './runtimes.value.ts';
import { atRuntimeOf, runtimeChange, watchingRuntime } from './version.step.ts';

/** What changes while the node is drained, as messages call it, old and new; none if nothing does. */
function drainedChanges(
  target: Target,
): readonly { readonly what: string; readonly from: string; readonly to: string }[] {
  const change = runtimeChange(target);
  const driver = driverChange(target);
  const move = pendingMove(target);
  return [
    ...(move === undefined ? [] : [{ what: 'the container runtime', from: move.from.title, to: move.to.title }]),
    ...(change?.way === 'drained' ? [{ what: containerRuntime(target.inventory).title, ...change }] : []),
    ...(driver === undefined
      ? []
      : [{ what: 'the cgroup driver', to: driver.to, from: driver.from === 'mixed' ? 'both' : driver.from }]),
  ];
}

const isDrainedFor = (target: Target): boolean => drainedChanges(target).length > 0;

/** True while the runtime itself may have to change. A host of role etcd has no node to write a note on. */
const isUnderWay = (target: Target): boolean => {
  if (driverChange(target) !== undefined) return true;
  if (target.inventory.runtime.versionFrom === 'default') return false;
  if (target.host.role === 'etcd') return standing(target) === 'joined';
  return runtimeChange(target) !== undefined || isChanging(target);
};

/** Waits until every other node that kbuild has drained takes pods again, and its workloads are back. */
const othersChanged: Step = othersAreBack<Target>((cluster, { host }) => {
  const names = awayFrom(cluster, [host]).all.map(({ name }) => name);
  return names.length === 0
    ? undefined
    : `wait until ${names.join(', ')} takes pods again, and its workloads are back: run the command again that ` +
        'drained it';
}, isDrainedFor);

/**
 * @throws NotConverged while the cluster has another cgroup driver for kubelets than the inventory: only kubeadm's
 * settings bring it
 */
function refuseUnknownDriver(target: Target): void {
  const { cluster } = target.fleet;
  const change = driverChange(target);
  if (change === undefined || cluster.state !== 'up') return;
  const found = cluster.kubeletConfiguration['cgroupDriver'];
  if (found === change.to) return;
  throw new NotConverged(
    target.host.name,
    'runtime-change-noted',
    [
      `the cgroup driver ${change.to} in the ConfigMap kube-system/kubelet-config (found ` +
        `${typeof found === 'string' ? found : 'none'})`,
    ],
    'run `kbuild up` with all of its phases',
  );
}

/** Notes on the node what the drain is for. */
const changeNoted = noteWritten<'linux'>('runtime-change-noted', runtimeChangeNote, (target) => {
  const changes = drainedChanges(target);
  if (changes.length === 0 || registeredNode(target) === undefined) return undefined;
  const words = changes.map(({ what, from, to }) => `${what} of ${target.host.name} changes from ${from} to ${to}`);
  return {
    summary: `note that ${words.join(', and ')}`,
    text: changes.map(({ from, to }) => `${from} to ${to}`).join(', '),
    before: async (on) => {
      // Before the drain too, so that no node is drained in vain.
      refuseUnknownDriver(target);
      const move = pendingMove(target);
      if (move !== undefined) await newRuntimeAnswers(target, move, on);
      await passRestartGate(target, on);
    },
  };
});

const changeDone = noteForgotten<'linux'>('runtime-change-done', runtimeChangeNote, {
  summary: ({ host }) => `remove the note ${RUNTIME_CHANGE} of ${host.name}`,
  willStand: (target) => registeredNode(target) !== undefined && isDrainedFor(target),
});

/**
 * What a change of the runtime does on a host that is in use: the gate first, and after a package the new program runs.
 */
const guarded = (step: Step): Step =>
  mapChanges(step, (change, target) => {
    const { apply, disrupts, restarts } = change;
    if (apply === undefined || disrupts !== true) return change;
    const { inventory, host } = target;
    const { unit } = containerRuntime(inventory);
    return {
      ...change,
      ...(restarts === undefined ? {} : { restarts: restarts.map((one) => ({ ...one, atOnce: 1 })) }),
      apply: async (on) => {
        await passRestartGate(target, on);
        await apply(on);
        // Not every package restarts what it has replaced.
        if (step.name === runtimePackageStep(inventory))
          await on(host).run(sh`systemctl daemon-reload && systemctl restart ${unit}`);
      },
    };
  });

/** The version that the inventory pins; without one, the host keeps its own. */
const atPinned = (target: Target): Inventory =>
  target.inventory.runtime.versionFrom === 'default' ? atRuntimeOf(target.inventory, target) : target.inventory;

/**
 * A step of the runtime, for the version that the inventory pins, and its cgroup driver. Without the API kbuild cannot
 * observe whether the node is drained.
 */
const changed = (step: Step): Step =>
  when(
    isUnderWay,
    orWaitForApi(
      guarded(withInventory(step, atPinned)),
      (target) => isDrainedFor(target) && target.host.role !== 'etcd',
    ),
  );

/** The same for the change to another runtime, which is prepared before the drain. */
const moved: Step = when((target) => pendingMove(target) !== undefined, orWaitForApi(guarded(runtimeMoved)));

/**
 * The kubelet's own settings for the runtime that now runs its pods. Before the pods have moved they are foreseen,
 * where the two runtimes need different ones.
 */
const kubeletFollows = (step: Step): Step => ({
  ...step,
  diff: (target) => {
    const move = pendingMove(target);
    if (move === undefined) return isChanging(target) ? step.diff(target) : [];
    const { minor } = target.inventory.kubernetes;
    const [before, after] = [move.from, move.to].map(({ kubeletConfig }) => kubeletConfig?.(minor) ?? {});
    if (isDeepStrictEqual(before, after)) return [];
    return [
      {
        summary:
          `change the settings of the kubelet of ${target.host.name} that only ${move.from.title} or ` +
          `${move.to.title} needs`,
        foreseen: true,
      },
    ];
  },
});

/** True while the node is drained because its runtime changes, or will be. */
export const drainsForRuntime = (target: Target): boolean => isDrainedFor(target) || isChanging(target);

/** The steps of Kubernetes in a change of the runtime. */
interface ForNode {
  /** Configures the kubelet for another runtime. */
  readonly byRuntime: Step;
  /** Restarts the pods that stay, for another cgroup driver. */
  readonly byDriver: readonly Step[];
  readonly gates: readonly Step[];
}

/**
 * What brings a joined host to the runtime's version that the inventory pins, and to its cgroup driver. For another
 * minor or driver, the runtime changes while no pod runs there; for a patch: in place. Changes no version where the
 * inventory pins none, but goes on with a change that was cut off. Waits while a control plane is absent. `before`:
 * what comes first on each host.
 */
export function runtimeRoll(
  inventory: Parameters<typeof runtimeSteps>[0],
  { before, byRuntime, byDriver, gates }: ForNode & { readonly before: readonly Step[] },
): NodeChange<'linux'> {
  const whole = (step: Step): Step => ({ ...watchingRuntime(step), needs: 'whole-control-plane' });
  return {
    isDue: isDrainedFor,
    before: [...before, whole(othersChanged)],
    note: { written: changeNoted, forgotten: changeDone, isOurs: drainsForRuntime },
    drain: drainedByUp,
    whileDrained: [
      ...[moved, kubeletFollows(byRuntime)],
      ...[...runtimeSteps(inventory), ...byDriver].map(changed),
    ].map(whole),
    gates: [...[...moveGates, ...gates].map((gate) => whileNoted<'linux'>(isChanging, gate)), whole(runtimeRetired)],
    each: whole,
  };
}
