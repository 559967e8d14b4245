import type { Fleet } from '../cluster/fleet/fleet.ts';
import { standing } from '../cluster/standing.ts';
import type { Host, Inventory } from '../inventory/inventory.ts';
import { withChanges } from './combinators.ts';
import { ask, onlyHosts, places, reached } from './phases.ts';
import type { Change, Phase, Step } from './step.ts';

/** A pending change and its place. */
export interface PlannedChange {
  readonly phase: string;
  readonly host: string;
  readonly step: string;
  readonly summary: string;
  readonly change: Change;
}

/** What would change, and what is unknown. */
interface Plan {
  /** In the order of the phases. A change without `apply` is only waited for. */
  readonly changes: readonly PlannedChange[];
  /** A fact that a step needs could not be read, or a step refuses; `up` does not start. */
  readonly errors: readonly { readonly host: string; readonly step: string; readonly error: Error }[];
}

/** The pending changes of every step of every phase. Pure. Hosts that were not observed are left out. */
export function plan(phases: readonly Phase[], inventory: Inventory, fleet: Fleet): Plan {
  const changes: PlannedChange[] = [];
  const errors: { host: string; step: string; error: Error }[] = [];
  for (const phase of phases) {
    for (const host of places(phase, fleet)) {
      for (const step of phase.steps) {
        try {
          const due = ask(phase, step, host, inventory)(fleet);
          if (due === 'not observed') continue;
          for (const change of due) {
            changes.push({ phase: phase.name, host: host.name, step: step.name, summary: change.summary, change });
          }
        } catch (error) {
          if (!(error instanceof Error)) throw error;
          errors.push({ host: host.name, step: step.name, error });
        }
      }
    }
  }
  return { changes, errors };
}

/** True for a change that is only waited for. */
export const isWait = ({ apply, foreseen }: Change): boolean => apply === undefined && foreseen === undefined;

/** What is applied, or foreseen; the rest of a plan is only waited for. */
export const changesIn = (planned: readonly PlannedChange[]): readonly PlannedChange[] =>
  planned.filter(({ change }) => !isWait(change));

/** What is only waited for. */
export const waitsIn = (planned: readonly PlannedChange[]): readonly PlannedChange[] =>
  planned.filter(({ change }) => isWait(change));

/** Identity of a change: where, not what, so that a summary may become more exact. */
export const changeId = ({ phase, host, step }: Pick<PlannedChange, 'phase' | 'host' | 'step'>): string =>
  `${phase}/${host}/${step}`;

/** A change that is not made while a host of the control plane is absent. */
export interface WaitingChange {
  /** The host that the change is about. */
  readonly host: string;
  readonly summary: string;
}

/** The phases of a run that goes on without some hosts. */
export interface Without {
  /** The phases, without the absent hosts and without the changes that wait for them. */
  readonly phases: readonly Phase[];
  readonly waiting: readonly WaitingChange[];
}

const isOfControlPlane = ({ role }: Host): boolean => role === 'control-plane' || role === 'etcd';

/** A drain is made for a restart: alone, it would leave the node cordoned. */
const mustWait = (phase: Phase, { needs }: Phase['steps'][number], change: Change, host: Host): boolean =>
  phase.needs !== undefined ||
  needs === 'whole-control-plane' ||
  (host.role !== 'worker' && (needs !== undefined || change.disrupts === true || change.drains === true));

/** A phase in two parts: without the changes that wait, and with those alone. */
function parts(phase: Phase): { readonly rest: Phase; readonly waiting: Phase } {
  const only = (isMeant: (step: Step, change: Change, host: Host) => boolean): Phase =>
    ({
      ...phase,
      steps: (phase.steps as readonly Step[]).map((step) =>
        withChanges(step, (changes, { host }) => changes.filter((change) => isMeant(step, change, host))),
      ),
    }) as Phase;
  return { rest: only((...of) => !mustWait(phase, ...of)), waiting: only((...of) => mustWait(phase, ...of)) };
}

/** Control planes and etcd hosts that would become members: membership does not change while a member is absent. */
const newcomers = (inventory: Inventory, fleet: Fleet): readonly Host[] =>
  fleet.hosts
    .filter(({ host, facts }) => isOfControlPlane(host) && standing({ inventory, host, facts, fleet }) !== 'joined')
    .map(({ host }) => host);

/**
 * The phases that go on while hosts are unreachable. An absent worker or load balancer is only left out. While a
 * control plane or an etcd host is absent, etcd's members do not change, no API server, etcd, runtime or kubelet of the
 * other control planes is restarted, none is drained for that, and their manifests stay as they are. Pure. Throws
 * `FactError` when a fact that it needs is unknown.
 */
export function withoutAbsent(phases: readonly Phase[], inventory: Inventory, fleet: Fleet): Without {
  const present = reached(phases, fleet);
  if (!fleet.unreachable.some(({ host }) => isOfControlPlane(host))) return { phases: present, waiting: [] };
  const joining = newcomers(inventory, fleet).filter((host) =>
    present.some(({ hosts }) => hosts.some(({ name }) => name === host.name)),
  );
  const staying = onlyHosts(present, ({ name }) => !joining.some((host) => host.name === name)).map(parts);
  const held = plan(
    staying.map(({ waiting }) => waiting),
    inventory,
    fleet,
  );
  const become = ({ role }: Host): string => (role === 'etcd' ? 'become a member of etcd' : 'become a control plane');
  return {
    phases: staying.map(({ rest }) => rest),
    waiting: [
      ...joining.map((host) => ({ host: host.name, summary: become(host) })),
      ...held.changes.map(({ host, summary }) => ({ host, summary })),
    ],
  };
}
