import { isMixed } from '../cluster/api-versions.ts';
import { hasKubelet } from '../cluster/fleet/joined.ts';
import type { LinuxFacts } from '../cluster/fleet/linux.ts';
import { standing } from '../cluster/standing.ts';
import { mapChanges, withInventory } from '../engine/combinators.ts';
import { type Change, type Step, type Target, watchesOf } from '../engine/step.ts';
import { isBuiltIn, isInstalledAs, systemRuntime } from '../host/packages/installer.value.ts';
import type { Inventory } from '../inventory/inventory.ts';
import { minorOf, versionIn } from '../versions.ts';
import { atDriverOf } from './cgroup-driver.step.ts';
import { runtimeMove } from './runtime-change.ts';
import { runtimePackages } from './runtimes.value.ts';

/** The runtime that a package brought to a host. */
interface InstalledRuntime {
  /** Name of the package. */
  readonly package: string;
  /** In the form of the package manager: `5:2.2.9-1`. */
  readonly version: string;
  /** Without epoch and suffix: `2.2.9`. */
  readonly upstream: string;
}

/** The runtime on a host, from any of its packages; undefined if none is installed. */
export function installedRuntime(
  inventory: Inventory,
  { packages }: Pick<LinuxFacts, 'packages'>,
): InstalledRuntime | undefined {
  for (const name of runtimePackages(inventory)) {
    const version = packages.get(name)?.version;
    if (version === undefined) continue;
    const plain = version.replace(/^\d+:/, '');
    return { package: name, version, upstream: versionIn(plain) ?? plain };
  }
  return undefined;
}

/** The inventory as if it named another version, and perhaps another package, of the runtime. */
const withRuntimeVersion = (
  inventory: Inventory,
  runtime: Pick<Inventory['runtime'], 'version' | 'package'>,
): Inventory =>
  runtime.version === inventory.runtime.version && runtime.package === inventory.runtime.package
    ? inventory
    : { ...inventory, runtime: { ...inventory.runtime, ...runtime } };

/**
 * True for a host whose kubelet runs pods on the runtime that the inventory names. A runtime to which the host will
 * change runs no pods yet.
 */
const runsPods = ({ inventory, host, facts }: Pick<Target, 'inventory' | 'host' | 'facts'>): boolean =>
  hasKubelet(facts) && runtimeMove(inventory, host, facts) === undefined;

/**
 * The inventory as if it named the runtime that a host keeps for now. A host whose kubelet runs pods keeps the
 * installed one: only `upgrade`, or the phase for an edited `runtime.version`, changes it. A runtime that the system of
 * the host brings stays. Any other host gets the inventory's.
 */
export function atRuntimeOf(inventory: Inventory, { host, facts }: Pick<Target, 'host' | 'facts'>): Inventory {
  const isKept = runsPods({ inventory, host, facts }) || isBuiltIn({ facts }, [inventory.runtime.name]);
  const found = isKept ? installedRuntime(inventory, facts) : undefined;
  return found === undefined
    ? inventory
    : withRuntimeVersion(inventory, { package: found.package, version: found.upstream });
}

/**
 * The inventory as if it named the runtime of the host's own system: its package, and, if the inventory pins no
 * version, the version that is installed. The same inventory for a host that gets its runtime from a repository of the
 * inventory.
 */
export function atSystemRuntime(inventory: Inventory, { host, facts }: Pick<Target, 'host' | 'facts'>): Inventory {
  const { name, version, versionFrom } = inventory.runtime;
  const own = systemRuntime({ host, facts }, [name]);
  if (own === undefined) return inventory;
  const found = versionFrom === 'default' ? installedRuntime(inventory, facts) : undefined;
  return withRuntimeVersion(inventory, { package: own[0], version: found?.upstream ?? version });
}

/** A step that also observes which runtime is installed. */
export const watchingRuntime = (step: Step): Step => ({
  ...step,
  watches: (about) => {
    const own = watchesOf(step, about);
    return { ...own, packages: [...(own.packages ?? []), ...runtimePackages(about.inventory)] };
  },
});

/** A change that restarts no pod: no pod runs yet on the runtime to which a host changes. */
const withoutRestart = ({ restarts: _, ...change }: Change): Change => ({ ...change, disrupts: false });

/**
 * A step of the runtime that changes neither its version, nor its package, nor its cgroup driver on a host with pods.
 */
export const atRuntimeOfHost = (step: Step): Step =>
  watchingRuntime(
    mapChanges(
      withInventory(step, (target) => atRuntimeOf(atDriverOf(target), target)),
      (change, target) => (!hasKubelet(target.facts) || runsPods(target) ? change : withoutRestart(change)),
    ),
  );

/** A change of the runtime's version that is pending on a joined host. */
interface RuntimeChange {
  /** Without epoch and suffix. */
  readonly from: string;
  readonly to: string;
  /** `drained`: pods of one version do not survive the other. `in place`: containers go on running. */
  readonly way: 'drained' | 'in place';
}

/**
 * The change of a joined host to the version that the inventory pins; undefined if it has it, if the inventory pins
 * none, or while an upgrade is under way. A patch release is installed in place: containers survive it. For another
 * minor or package the node is drained first. Throws `FactError` when a fact that it needs is unknown.
 */
export function runtimeChange(target: Target): RuntimeChange | undefined {
  const { inventory, facts, fleet } = target;
  const { version, versionFrom, package: name } = atSystemRuntime(inventory, target).runtime;
  if (versionFrom === 'default' || !runsPods(target)) return undefined;
  // During an upgrade `up` restarts nothing: that upgrade changes the runtime of the nodes that it drains.
  if (fleet.cluster.state === 'up' && isMixed(fleet.cluster)) return undefined;
  const found = installedRuntime(inventory, facts);
  if (found === undefined || standing(target) !== 'joined') return undefined;
  const state = facts.packages.get(found.package)!;
  if (isBuiltIn(target, [inventory.runtime.name])) return undefined;
  if (found.package === name && isInstalledAs(target, [inventory.runtime.name], state, version)) return undefined;
  const isPatch = found.package === name && minorOf(found.upstream) === minorOf(version);
  return { from: found.upstream, to: version, way: isPatch ? 'in place' : 'drained' };
}
