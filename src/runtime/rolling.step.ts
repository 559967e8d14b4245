import { isDeepStrictEqual } from 'node:util';
import { passRestartGate } from '../cluster/restart-gate.ts';
import { standing } from '../cluster/standing.ts';
import { mapChanges, orWaitForApi, when, whenApiAnswers, withInventory } from '../engine/combinators.ts';
import { type Drain, registeredNode } from '../engine/drain.ts';
import { awayFrom, drainedByUp, othersAreBack, takesPodsAgain } from '../engine/rolling.ts';
import type { Step, Target } from '../engine/step.ts';
import { CHANGING, isChanging, noted, whileNoted } from '../engine/workloads.ts';
import { NotConverged } from '../errors.ts';
import type { Inventory } from '../inventory/inventory.ts';
import { sh } from '../shell/sh.ts';
import { driverChange } from './cgroup-driver.step.ts';
import { moveGates, newRuntimeAnswers, pendingMove, runtimeMoved } from './change.step.ts';
import { runtimeRetired } from './cleanup.step.ts';
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
    : `wait until ${names.join(', ')} takes pods again, and its workloads are back: run the command again that drained it`;
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
      `the cgroup driver ${change.to} in the ConfigMap kube-system/kubelet-config (found ${typeof found === 'string' ? found : 'none'})`,
    ],
    'run `kbuild up` with all of its phases',
  );
}

/** Notes on the node what the drain is for, before the drain. */
const changeNoted: Step = {
  name: 'runtime-change-noted',
  diff: (target) => {
    const changes = drainedChanges(target);
    if (changes.length === 0 || registeredNode(target) === undefined || isChanging(target)) return [];
    const words = changes.map(({ what, from, to }) => `${what} of ${target.host.name} changes from ${from} to ${to}`);
    return [
      {
        summary: `note that ${words.join(', and ')}`,
        apply: async (on) => {
          // Before the drain too, so that no node is drained in vain.
          refuseUnknownDriver(target);
          const move = pendingMove(target);
          if (move !== undefined) await newRuntimeAnswers(target, move, on);
          await passRestartGate(target, on);
          await noted(target, changes.map(({ from, to }) => `${from} to ${to}`).join(', '))(on);
        },
      },
    ];
  },
};

const drained = (drain: Drain): Step => when(isDrainedFor, whenApiAnswers<'linux'>(drainedByUp(drain)));

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
        summary: `change the settings of the kubelet of ${target.host.name} that only ${move.from.title} or ${move.to.title} needs`,
        foreseen: true,
      },
    ];
  },
});

/** True while the node is drained because its runtime changes, or will be. */
export const drainsForRuntime = (target: Target): boolean => isDrainedFor(target) || isChanging(target);

/**
 * Lets the node take pods again, waits until the workloads that left it are back, and removes the note. An operator's
 * cordon stays.
 */
const back: readonly Step[] = [
  ...takesPodsAgain<'linux'>(isDrainedFor),
  {
    name: 'runtime-change-done',
    diff: (target) =>
      registeredNode(target) === undefined
        ? []
        : [{ summary: `remove the note ${CHANGING} of ${target.host.name}`, apply: noted(target, null) }],
  },
];

/**
 * Brings one joined host to the runtime's version that the inventory pins, and to its cgroup driver. For another minor
 * or driver: drains its node, changes the runtime while no pod runs there, gives the kubelet what another runtime needs
 * (`byRuntime`), starts the pods that stay anew for another driver (`byDriver`), waits for the gates, and lets the node
 * take pods again. For a patch: in place. Changes no version where the inventory pins none, but goes on with a change
 * that was cut off. Waits while a control plane is absent.
 */
export const rollingRuntimeSteps = (
  inventory: Parameters<typeof runtimeSteps>[0],
  drain: Drain,
  {
    byRuntime,
    byDriver,
    gates,
  }: { readonly byRuntime: Step; readonly byDriver: readonly Step[]; readonly gates: readonly Step[] },
): readonly Step[] => {
  const whole = (step: Step): Step => ({ ...watchingRuntime(step), needs: 'whole-control-plane' });
  return [
    ...[
      ...[othersChanged, changeNoted, drained(drain), moved, kubeletFollows(byRuntime)],
      ...[...runtimeSteps(inventory), ...byDriver].map(changed),
    ].map(whole),
    ...[...moveGates, ...gates].map((gate) => whileNoted<'linux'>(isChanging, gate)),
    whole(runtimeRetired),
    ...back.map((step) => whole(whileNoted<'linux'>(drainsForRuntime, step))),
  ];
};
