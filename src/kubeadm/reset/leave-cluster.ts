import { acting } from '../../cluster/acting.ts';
import { kubectl } from '../../configuration/kubectl.ts';
import type { Leaving } from '../../cluster/leaving.ts';
import { memberHost } from '../../cluster/member-host.ts';
import { membersOf, removeMembers, type BeforeMembership } from '../../cluster/members.ts';
import { gate } from '../../cluster/quorum.ts';
import type { Change, Step, Target } from '../../engine/step.ts';
import { CommandError, Refused } from '../../errors.ts';
import type { NodeView } from '../../facts/cluster.ts';
import { drainStep, type AnyStep, type Drain } from '../../resources/drain.ts';
import { runs } from '../../resources/runs.ts';
import { sh } from '../../shell/sh.ts';

/** The cluster that a host or node leaves. */
type Cluster = Pick<Target, 'inventory' | 'fleet'>;

/** A target of either system. */
type Any = Pick<Target<'linux' | 'windows'>, 'inventory' | 'fleet' | 'host'>;

const registered = ({ fleet }: Cluster, leaving: Leaving): NodeView | undefined =>
  fleet.cluster.state === 'up' ? fleet.cluster.nodes.find(({ name }) => name === leaving.name) : undefined;

/** Drains the node of a host that leaves, if the API answers. Its pods without a controller are lost with it. */
export const drained = (drain: Drain): AnyStep =>
  drainStep({
    drain,
    noting: 'notes nothing',
    isDue: () => true,
    losesPods: true,
    through: (fleet, { name }) => acting(fleet, name),
    failed: ({ name }, { host, command, status, stdout, stderr }) =>
      new CommandError(
        host,
        command,
        { status, stdout, stderr },
        `let the budget allow a disruption (more replicas, or another budget), give the pods more time: \`kbuild remove ${name} --drain-timeout 15m\`, or end them with the node: \`kbuild remove ${name} --no-drain\``,
      ),
  });

function memberChanges({ inventory, fleet }: Cluster, leaving: Leaving, before: BeforeMembership): readonly Change[] {
  const { cluster } = fleet;
  if (cluster.state !== 'up') return [];
  return membersOf(cluster, leaving)
    .slice(0, 1)
    .map((member): Change => {
      const { allowed, why } = gate(cluster, { kind: 'remove', id: member.id });
      if (!allowed) throw new Refused(leaving.name, why);
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
 * Removes the host's member from etcd, through another control plane and the quorum gate. Not left to kubeadm: its reset
 * deletes the data even if the removal failed.
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

/** Deletes the Node object if the API answers. Only after the host's kubelet has stopped: it would register the node again. */
export const nodeDeleted: AnyStep = {
  name: 'node-deleted',
  diff: (target: Any) => nodeChanges(target, target.host),
};

/** Removes the etcd member and the Node object of a host that no longer exists. */
export const forgotten = (leaving: Leaving, before: BeforeMembership): readonly Step<'cluster'>[] => [
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
