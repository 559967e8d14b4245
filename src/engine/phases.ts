import { type Fleet, type Kind, type Kinds, observedHost } from '../cluster/fleet/fleet.ts';
import { inventoryOn, selects } from '../inventory/hosts.ts';
import type { Host, Inventory, LinuxHost, WindowsHost } from '../inventory/inventory.ts';
import type { Phase, Step, Target } from './step.ts';

/** When a phase runs on which of its hosts: see `Phase`. */
export type PhaseSwitches = Pick<Phase, 'concurrency' | 'batch' | 'needs' | 'overlaps' | 'conditionOf' | 'verifies'>;

/** One host after another. */
export const IN_TURN: PhaseSwitches = { concurrency: 1 };
/** A host begins as soon as it has finished the phase above. */
export const OVERLAPS: PhaseSwitches = { overlaps: true };
/** One host after another, each as soon as it has finished the phase above. */
export const QUEUED: PhaseSwitches = { concurrency: 1, overlaps: true };
/** Not while a host of the control plane is absent. */
export const WHOLE: PhaseSwitches = { needs: 'whole-control-plane' };
/** One host after another, and none while a host of the control plane is absent. */
export const WHOLE_IN_TURN: PhaseSwitches = { concurrency: 1, needs: 'whole-control-plane' };
/** After all other phases, by new facts. */
export const VERIFIES: PhaseSwitches = { verifies: true };

/** A phase of Linux hosts. */
export const linux = (
  name: string,
  title: string,
  hosts: readonly LinuxHost[],
  steps: readonly Step[],
  how: PhaseSwitches = {},
): Phase => ({ name, title, kind: 'linux', hosts, steps, ...how });

/** A phase of Windows hosts. */
export const windows = (
  name: string,
  title: string,
  hosts: readonly WindowsHost[],
  steps: readonly Step<'windows'>[],
  how: PhaseSwitches = {},
): Phase => ({ name, title, kind: 'windows', hosts, steps, ...how });

/** A phase that one of these control planes takes for the cluster. */
export const cluster = (
  name: string,
  title: string,
  hosts: readonly LinuxHost[],
  steps: readonly Step<'cluster'>[],
  how: PhaseSwitches = {},
): Phase => ({ name, title, kind: 'cluster', hosts, steps, ...how });

/** The phases that have a host. */
export const ifAny = (...phases: readonly Phase[]): readonly Phase[] => phases.filter(({ hosts }) => hosts.length > 0);

/** What a run may change; everything is observed all the same. */
interface Selection {
  /** Patterns of host names; undefined: all. */
  readonly hosts?: readonly string[] | undefined;
  /** Names of phases; undefined: all. */
  readonly phases?: readonly string[] | undefined;
}

/** The phases on some of their hosts. Drops phases that have no host left. */
export const onlyHosts = (phases: readonly Phase[], isMeant: (host: Host) => boolean): readonly Phase[] =>
  phases
    .map((phase): Phase => ({ ...phase, hosts: phase.hosts.filter(isMeant) }) as Phase)
    .filter(({ hosts }) => hosts.length > 0);

/**
 * The phases and hosts that a run may change. Drops phases that have no host left. What is a condition of a phase that
 * is left keeps all of its hosts: it must hold for the whole cluster.
 */
export function selected(phases: readonly Phase[], selection: Selection): readonly Phase[] {
  const isMeant = ({ name }: Host): boolean => selects(selection.hosts, name);
  const named = phases.filter(({ name }) => selects(selection.phases, name));
  const left = new Set(onlyHosts(named, isMeant).map(({ name }) => name));
  return named.flatMap((phase) =>
    phase.conditionOf === undefined ? onlyHosts([phase], isMeant) : left.has(phase.conditionOf) ? [phase] : [],
  );
}

/** The phases without the hosts that cannot be reached. Drops phases that have no host left. */
export function reached(phases: readonly Phase[], { unreachable }: Pick<Fleet, 'unreachable'>): readonly Phase[] {
  const missing = new Set(unreachable.map(({ host }) => host.name));
  return onlyHosts(phases, ({ name }) => !missing.has(name));
}

/** The hosts on which a phase takes its steps: all of its hosts, or the one control plane that acts for the cluster. */
export function places(phase: Phase, fleet: Fleet): readonly Host[] {
  if (phase.kind !== 'cluster') return phase.hosts;
  const { cluster } = fleet;
  const via = cluster.state === 'up' ? phase.hosts.find(({ name }) => name === cluster.via) : undefined;
  return [via ?? phase.hosts[0]!];
}

/** A step of some kind, asked about one host: the pairing of kind and facts is made here, and only here. */
export function ask(phase: Phase, step: Phase['steps'][number], host: Host, inventory: Inventory) {
  return (fleet: Fleet): ReturnType<Step['diff']> | 'not observed' => {
    const facts = phase.kind === 'cluster' ? fleet.cluster : observedHost(fleet, host.name)?.facts;
    if (facts === undefined) return 'not observed';
    const target = { inventory: inventoryOn(inventory, host), host, facts, fleet } as Target<Kind> as never;
    return (step as Step<keyof Kinds>).diff(target);
  };
}
