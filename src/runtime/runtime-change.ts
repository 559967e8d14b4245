import type { Observed } from '../cluster/fleet/fleet.ts';
import { hasKubelet } from '../cluster/fleet/joined.ts';
import type { LinuxFacts } from '../cluster/fleet/linux.ts';
import { Refused } from '../errors.ts';
import { getsBinaries } from '../host/packages/installer.value.ts';
import { inventoryOn } from '../inventory/hosts.ts';
import type { Inventory, LinuxHost } from '../inventory/inventory.ts';
import { containerRuntime, type ContainerRuntime, otherRuntime, runtimeBetween } from './runtimes.value.ts';

/** A change of the container runtime that is pending on a joined host. */
export interface RuntimeMove {
  /** The runtime that its kubelet uses. */
  readonly from: ContainerRuntime;
  /** The runtime that the inventory names. */
  readonly to: ContainerRuntime;
}

/**
 * The change of runtime that a joined Linux host needs; undefined if its kubelet uses the one that the inventory names,
 * or one that kbuild does not know. Throws `FactError` when a fact that it needs is unknown.
 */
export function runtimeMove(
  inventory: Inventory,
  host: LinuxHost,
  facts: Pick<LinuxFacts, 'kubernetesTraces' | 'kubeletRuntime'>,
): RuntimeMove | undefined {
  if (!hasKubelet(facts)) return undefined;
  const from = otherRuntime(inventory, host, facts.kubeletRuntime);
  if (from === undefined || typeof from === 'string') return undefined;
  return { from, to: containerRuntime(inventoryOn(inventory, host)) };
}

/** `3 containers of Docker`, for each other program that has containers on a runtime. */
const othersOn = (runtime: ContainerRuntime, { otherContainers }: LinuxFacts): readonly string[] =>
  [...(otherContainers.get(runtime.name) ?? [])].flatMap(([namespace, count]) => {
    const owner = runtime.ownerOf(namespace);
    return owner === undefined ? [] : [`${String(count)} containers of ${owner}`];
  });

/** A reason why `up` cannot change the runtime of a host. */
interface Obstacle {
  readonly why: string;
  /** Missing if `up` can never make this change. */
  readonly remedy?: string;
}

/** The reason why `up` cannot change the runtime of this host; undefined if it can. */
function obstacle(inventory: Inventory, host: LinuxHost, facts: LinuxFacts, move: RuntimeMove): Obstacle | undefined {
  const { from, to } = move;
  if (host.role === 'etcd') return { why: 'a host of role etcd keeps its runtime' };
  if (getsBinaries({ host, facts })) return { why: 'kbuild changes the runtime only where it comes as a package' };
  const between = runtimeBetween(from, to);
  if (between !== undefined) {
    const [user, used] = from.needs === undefined ? [to, from] : [from, to];
    return {
      why: `${user.title} starts its containers by ${used.title}, which neither can be without while pods move`,
      remedy:
        `go by way of ${between.title}: set runtime.name to ${between.name} and run \`kbuild up\`, set it ` +
        `to ${to.name}`,
    };
  }
  const others = from.servesOthers === true ? [] : othersOn(from, facts);
  if (others.length > 0)
    return {
      why: `${others.join(' and ')} run on ${from.title}, and would end with it`,
      remedy: 'move these containers to another machine',
    };
  const flag = facts.kubeletOverrides.find(({ flags }) => flags.includes('--container-runtime-endpoint'));
  if (flag !== undefined)
    return {
      why: `${flag.file} gives the kubelet its own --container-runtime-endpoint`,
      remedy: `take the flag out of ${flag.file}`,
    };
  const wanted = inventoryOn(inventory, host).runtime.cgroupDriver;
  const driver = facts.cgroupDriverInUse;
  return driver === 'none' || driver === 'mixed' || driver === wanted
    ? undefined
    : {
        why: `its pods run by the cgroup driver ${driver}, and kbuild changes one of both at a time`,
        remedy: `set runtime.cgroupDriver to ${driver} until the runtime has changed`,
      };
}

/**
 * Why no command may change a joined host whose kubelet uses another container runtime than the inventory asks for, but
 * `up`, which changes the runtime first: `remove` and `reset` would leave the containers of the first one running.
 * undefined if it is the same, or one that kbuild does not know. Throws `FactError` when a fact that it needs is
 * unknown.
 */
export function runtimeRefusal(
  inventory: Inventory,
  { os, host, facts }: Observed,
): Refused<'runtime-changed'> | undefined {
  const move = os === 'windows' ? undefined : runtimeMove(inventory, host, facts);
  if (move === undefined) return undefined;
  const { from, to } = move;
  return new Refused(
    'runtime-changed',
    host.name,
    `its kubelet uses ${from.title}, the inventory asks for ${to.title}, and only \`kbuild up\` changes the ` +
      'runtime of a joined host',
    `run \`kbuild up\` first, or set runtime.name back to ${from.name}`,
  );
}

/**
 * Why `up` cannot change the runtime of a joined host to the one that the inventory asks for; undefined if it can, or
 * need not. Throws `FactError` when a fact that it needs is unknown.
 */
export function moveRefusal(inventory: Inventory, observed: Observed): Refused<'runtime-changed'> | undefined {
  if (observed.os === 'windows') return undefined;
  const { host, facts } = observed;
  const move = runtimeMove(inventory, host, facts);
  if (move === undefined) return undefined;
  const found = obstacle(inventory, host, facts, move);
  if (found === undefined) return undefined;
  const { from, to } = move;
  return new Refused(
    'runtime-changed',
    host.name,
    `its kubelet uses ${from.title}, the inventory asks for ${to.title}, and kbuild cannot change that: ${found.why}`,
    found.remedy === undefined
      ? `set runtime.name back to ${from.name}; to change it, run \`kbuild remove ${host.name}\` before you edit ` +
          `it: \`kbuild up\` adds the host again with ${to.title}`
      : `${found.remedy}, and run the same command again; or set runtime.name back to ${from.name}`,
  );
}
