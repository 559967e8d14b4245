import { acting } from '../../cluster/acting.ts';
import { kubectl } from '../../configuration/kubectl.ts';
import type { Leaving } from '../../cluster/leaving.ts';
import { memberHost } from '../../cluster/member-host.ts';
import { membersOf, removeMembers, type BeforeMembership } from '../../cluster/members.ts';
import { gate } from '../../cluster/quorum.ts';
import type { Change, Step, Target } from '../../engine/step.ts';
import { CommandError, Refused } from '../../errors.ts';
import type { NodeView } from '../../facts/cluster.ts';
import { runs } from '../../resources/runs.ts';
import { sh } from '../../shell/sh.ts';
import { script } from '../../templates.ts';

/** Annotation of a node that kbuild has drained completely. Without it, an interrupted drain continues. */
const DRAINED = 'kbuild.dev/drained';

/** Annotation of a node that kbuild's drain has cordoned: kbuild uncordons it if the drain fails. */
const CORDONED = 'kbuild.dev/cordoned';

/** The time that a drain may need after its own time-out, in ms. */
const DRAIN_ENDS_MS = 5 * 60_000;

/** Seconds between two reports of a drain about what it waits for. */
const REPORT_SECONDS = 30;

/** Adds to the error of a failed drain what the operator can do. */
function withDrainRemedy(error: unknown, node: string): unknown {
  if (!(error instanceof CommandError) || typeof error.status !== 'number') return error;
  const { host, command, status, stdout, stderr } = error;
  const remedy = `let the budget allow a disruption (more replicas, or another budget), give the pods more time: \`kbuild remove ${node} --drain-timeout 15m\`, or end them with the node: \`kbuild remove ${node} --no-drain\``;
  return new CommandError(host, command, { status, stdout, stderr }, remedy);
}

/** The cluster that a host or node leaves. */
type Cluster = Pick<Target, 'inventory' | 'fleet'>;

/** A target of either system. */
type Any = Pick<Target<'linux' | 'windows'>, 'inventory' | 'fleet' | 'host'>;

const registered = ({ fleet }: Cluster, leaving: Leaving): NodeView | undefined =>
  fleet.cluster.state === 'up' ? fleet.cluster.nodes.find(({ name }) => name === leaving.name) : undefined;

/** A step that is the same for hosts of both systems. */
type AnyStep = Step & Step<'windows'>;

/** How long the drain of a node may take; `no`: kbuild does not drain it. */
export type Drain = { readonly timeoutMs: number } | 'no';

/** Drains the node if the API answers. */
export const drained = (drain: Drain): AnyStep => ({
  name: 'drained',
  diff: (target: Any) => {
    const node = registered(target, target.host);
    if (drain === 'no' || node === undefined || (node.unschedulable && DRAINED in node.annotations)) return [];
    const { inventory, host, fleet } = target;
    const control = acting(fleet, host.name);
    const command = {
      ...script('linux/drain-node.sh', {
        KUBECTL: kubectl(inventory, control).join(' '),
        NODE: host.name,
        SECONDS_TO_DRAIN: Math.ceil(drain.timeoutMs / 1000),
        TELL_SECONDS: REPORT_SECONDS,
        DRAINED,
        CORDONED,
      }),
      title: `drain ${host.name}`,
      about: host.name,
      deadlineMs: drain.timeoutMs + DRAIN_ENDS_MS,
    };
    return [
      {
        summary: `drain ${host.name} (found ${node.ready ? 'Ready' : 'not Ready'})`,
        apply: async (on) => {
          try {
            await on(control).job('drain', command);
          } catch (error) {
            throw withDrainRemedy(error, host.name);
          }
        },
      },
    ];
  },
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
