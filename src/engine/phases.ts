import type { LinuxHost, WindowsHost } from '../inventory/inventory.ts';
import type { Phase, Step } from './step.ts';

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
