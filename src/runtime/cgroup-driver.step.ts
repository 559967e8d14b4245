import { isMixed } from '../cluster/api-versions.ts';
import { hasKubelet } from '../cluster/fleet/joined.ts';
import { standing } from '../cluster/standing.ts';
import type { Target } from '../engine/step.ts';
import { isChanging } from '../engine/note.ts';
import type { Inventory } from '../inventory/inventory.ts';
import type { Command } from '../shell/command.ts';
import { script } from '../templates.ts';
import { withRuntime } from './runtimes.value.ts';

type Driver = Inventory['runtime']['cgroupDriver'];

/** Limit in ms for all containers of a host to end. */
const PODS_ANEW_MS = 5 * 60_000;

/** A change of the cgroup driver that is pending on a joined host. */
interface DriverChange {
  /** The driver under which its pods run. `mixed`: some pods run under each driver. */
  readonly from: Driver | 'mixed';
  readonly to: Driver;
}

/**
 * The change that a joined host needs because its pods run by another driver than the inventory's; undefined if they do
 * not, or if no pod runs. Where runtime and kubelet are both configured for the inventory's driver, pods of other
 * programs may look so: then only a change that kbuild has begun counts. Nothing but the pods tells it on a host of
 * role etcd, which has no node to write a note on. Throws `FactError` when a fact that it needs is unknown.
 */
export function otherDriver(target: Target): DriverChange | undefined {
  const { inventory, host, facts } = target;
  const to = inventory.runtime.cgroupDriver;
  const from = facts.cgroupDriverInUse;
  if (from === 'none' || from === to || !hasKubelet(facts) || standing(target) !== 'joined') return undefined;
  const { runtimeConfig, kubeletConfig } = facts;
  const isConfigured =
    (typeof runtimeConfig !== 'object' || runtimeConfig.cgroupDriver === to) &&
    (kubeletConfig === 'absent' || kubeletConfig['cgroupDriver'] === to);
  return isConfigured && host.role !== 'etcd' && !isChanging(target) ? undefined : { from, to };
}

/** The same change if `up` may make it now; undefined during an upgrade, in which `up` restarts nothing. */
export const driverChange = (target: Target): DriverChange | undefined => {
  const { cluster } = target.fleet;
  return cluster.state === 'up' && isMixed(cluster) ? undefined : otherDriver(target);
};

/**
 * The driver for which a host's runtime stays configured for now: the inventory's, unless its pods have to end first.
 */
function keptByRuntime(target: Target): Driver {
  const change = otherDriver(target);
  if (change === undefined) return target.inventory.runtime.cgroupDriver;
  const { runtimeConfig } = target.facts;
  if (typeof runtimeConfig === 'object' && runtimeConfig.cgroupDriver !== 'unset') return runtimeConfig.cgroupDriver;
  return change.from === 'mixed' ? change.to : change.from;
}

/** The driver for which the kubelet of a host of role etcd stays configured for now. */
export function keptByEtcdKubelet(target: Target): Driver {
  const change = otherDriver(target);
  return change === undefined || change.from === 'mixed' ? target.inventory.runtime.cgroupDriver : change.from;
}

/** The inventory as if it named the cgroup driver for which the runtime of a host stays configured for now. */
export function atDriverOf(target: Target): Inventory {
  const { inventory } = target;
  const cgroupDriver = keptByRuntime(target);
  return cgroupDriver === inventory.runtime.cgroupDriver
    ? inventory
    : { ...inventory, runtime: { ...inventory.runtime, cgroupDriver } };
}

/** The summary of the change in a plan. */
export const podsAnewSummary = ({ host }: Pick<Target, 'host'>, { to }: DriverChange): string =>
  `configure the kubelet of ${host.name} for the cgroup driver ${to}, and restart all pods there`;

/**
 * The job that restarts all pods of a host, static pods too, under a kubelet with its new configuration. It completes
 * even if kbuild is killed. `config`: the kubelet's file.
 */
export function podsAnew({ inventory, host }: Target, config: string): Command<'sh'> {
  const command = script('runtime/pods-anew.sh', { CONFIG: config, DRIVER: inventory.runtime.cgroupDriver });
  return {
    ...withRuntime(inventory, host, command),
    title: `restart the pods of ${host.name}`,
    deadlineMs: PODS_ANEW_MS,
  };
}
