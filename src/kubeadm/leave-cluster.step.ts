import type { NodeView } from '../cluster/fleet/view.ts';
import { acting } from '../cluster/live.ts';
import { memberHost } from '../cluster/member-host.ts';
import { type BeforeMembership, gate, membersOf, removeMembers } from '../cluster/members.ts';
import type { Leaving } from '../cluster/removal.ts';
import { runs } from '../engine/combinators.ts';
import { type AnyStep, type Drain, drainChanges, type DrainOptions, drainStep } from '../engine/drain.ts';
import type { Change, Step, Target } from '../engine/step.ts';
import { CommandError, Refused } from '../errors.ts';
import { kubectl } from '../inventory/api-server.ts';
import { NO_HOOKS } from '../inventory/host-settings.ts';
import { sh } from '../shell/sh.ts';

/** The cluster that a host or node leaves. */
type Cluster = Pick<Target, 'inventory' | 'fleet'>;

/** A target of either system. */
type Any = Pick<Target<'linux' | 'windows'>, 'inventory' | 'fleet' | 'host'>;

const registered = ({ fleet }: Cluster, leaving: Pick<Leaving, 'name'>): NodeView | undefined =>
  fleet.cluster.state === 'up' ? fleet.cluster.nodes.find(({ name }) => name === leaving.name) : undefined;

/** Options for the drain of a leaving node. Its pods without a controller are lost with it. */
const leavingDrain = (drain: Drain): DrainOptions => ({
  drain,
  noting: 'notes nothing',
  losesPods: true,
  through: (fleet, { name }) => acting(fleet, name),
  failed: ({ name }, { host, command, status, stdout, stderr }) =>
    new CommandError(
      host,
      command,
      { status, stdout, stderr },
      'let the budget allow a disruption (more replicas, or another budget), give the pods more time: `kbuild ' +
        `remove ${name} --drain-timeout 15m\`, or end them with the node: \`kbuild remove ${name} --no-drain\``,
    ),
});

/** Drains the node of a host that leaves, if the API answers. */
export const drained = (drain: Drain): AnyStep => drainStep(leavingDrain(drain));

function memberChanges({ inventory, fleet }: Cluster, leaving: Leaving, before: BeforeMembership): readonly Change[] {
  const { cluster } = fleet;
  if (cluster.state !== 'up') return [];
  return membersOf(cluster, leaving)
    .slice(0, 1)
    .map((member): Change => {
      const { allowed, why } = gate(cluster, { kind: 'remove', id: member.id });
      if (!allowed) throw new Refused('quorum', leaving.name, why);
      return {
        summary: `remove etcd member ${member.id} of ${leaving.name} (${why})`,
        apply: async (on) => {
          const through = memberHost(inventory, fleet, leaving.name);
          await before(on, through, `before ${leaving.name} was removed`);
          await removeMembers(inventory, on(through), leaving);
        },
      };
    });
}

/**
 * Removes the host's member from etcd, through another control plane and the quorum gate. kbuild does not leave that to
 * kubeadm, whose reset deletes the data even if the removal failed.
 */
export const memberRemoved = (before: BeforeMembership): Step => ({
  name: 'etcd-member-removed',
  settleMs: 60_000,
  diff: (target) => memberChanges(target, target.host, before),
});

function nodeChanges(cluster: Cluster, leaving: Leaving): readonly Change[] {
  if (registered(cluster, leaving) === undefined) return [];
  const { inventory, fleet } = cluster;
  const control = acting(fleet, leaving.name);
  return [
    {
      summary: `delete node ${leaving.name} from ${inventory.name}`,
      apply: runs(control, sh`${kubectl(inventory, control)} delete node --ignore-not-found ${leaving.name}`),
    },
  ];
}

/**
 * Deletes the Node object if the API answers. Must run after the host's kubelet has stopped: a running kubelet would
 * register the node again.
 */
export const nodeDeleted: AnyStep = {
  name: 'node-deleted',
  diff: (target: Any) => nodeChanges(target, target.host),
};

/**
 * Drains the node of an unreachable host through the API, if the node is Ready: its pods run and their budgets hold,
 * even if SSH fails. A node that is not Ready has no kubelet that could end its pods. Runs no drain hooks, because they
 * need the host.
 */
const drainedThroughApi = ({ name }: Leaving, drain: Drain): Step<'cluster'> => ({
  name: `drained-${name}`,
  diff: (target) => {
    const inventory = { ...target.inventory, hooks: NO_HOOKS };
    const node = registered(target, { name });
    const changes = drainChanges(leavingDrain(drain));
    return node?.ready === true ? changes({ ...target, inventory, host: { ...target.host, name } }) : [];
  },
});

/**
 * Removes an unreachable host from the cluster: drains its node if it is Ready, and removes its etcd member and its
 * Node object.
 */
export const forgotten = (leaving: Leaving, drain: Drain, before: BeforeMembership): readonly Step<'cluster'>[] => [
  drainedThroughApi(leaving, drain),
  {
    name: `etcd-member-removed-${leaving.name}`,
    settleMs: 60_000,
    diff: (target) => memberChanges(target, leaving, before),
  },
  {
    name: `node-deleted-${leaving.name}`,
    diff: (target) => nodeChanges(target, leaving),
  },
];
