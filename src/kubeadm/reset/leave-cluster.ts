import { acting } from '../../cluster/acting.ts';
import { kubectl } from '../../configuration/kubectl.ts';
import type { Leaving } from '../../cluster/leaving.ts';
import { memberHost } from '../../cluster/member-host.ts';
import { membersOf, removeMembers, type BeforeMembership } from '../../cluster/members.ts';
import { gate } from '../../cluster/quorum.ts';
import type { Change, Step, Target } from '../../engine/step.ts';
import { CommandError, Refused } from '../../errors.ts';
import type { NodeView } from '../../facts/cluster.ts';
import type { Fleet } from '../../facts/fleet.ts';
import type { Inventory } from '../../model/inventory.ts';
import { runs } from '../../resources/runs.ts';
import { sh } from '../../shell/sh.ts';
import { script } from '../../templates.ts';

/** Annotation of a node that kbuild has drained to the end: an interrupted drain is gone on with. */
const DRAINED = 'kbuild.dev/drained';

/** Annotation of a node that kbuild's drain has cordoned: it is taken back when the drain fails. */
const CORDONED = 'kbuild.dev/cordoned';

/** What a drain may take beyond its own time-out, in ms. */
const DRAIN_ENDS_MS = 5 * 60_000;

/** A drain says so often what it waits for, in s. */
const TELL_SECONDS = 30;

/** The same error with what an operator can do, where the drain itself failed. */
function withDrainRemedy(error: unknown, node: string): unknown {
  if (!(error instanceof CommandError) || typeof error.status !== 'number') return error;
  const { host, command, status, stdout, stderr } = error;
  const remedy = `let the budget allow a disruption (more replicas, or another budget), give the pods more time: \`kbuild remove ${node} --drain-timeout 15m\`, or end them with the node: \`kbuild remove ${node} --no-drain\``;
  return new CommandError(host, command, { status, stdout, stderr }, remedy);
}

/** The cluster, and who leaves it. */
interface Parting {
  readonly inventory: Inventory;
  readonly fleet: Fleet;
  readonly leaving: Leaving;
}

/** A target of either system. */
type Any = Pick<Target<'linux' | 'windows'>, 'inventory' | 'fleet' | 'host'>;

const ofHost = ({ inventory, fleet, host }: Any): Parting => ({ inventory, fleet, leaving: host });

const registered = ({ fleet, leaving }: Parting): NodeView | undefined =>
  fleet.cluster.state === 'up' ? fleet.cluster.nodes.find(({ name }) => name === leaving.name) : undefined;

/** A step that is the same for hosts of both systems. */
type AnyStep = Step & Step<'windows'>;

/** Whether a node's pods are moved away before it goes, and how long that may take. */
export type Drain = { readonly timeoutMs: number } | 'no';

/** The node's pods have moved to others, where the API answers. */
export const drained = (drain: Drain): AnyStep => ({
  name: 'drained',
  diff: (target: Any) => {
    const node = registered(ofHost(target));
    if (drain === 'no' || node === undefined || (node.unschedulable && DRAINED in node.annotations)) return [];
    const { inventory, host, fleet } = target;
    const control = acting(fleet, host.name);
    const command = {
      ...script('linux/drain-node.sh', {
        KUBECTL: kubectl(inventory, control).join(' '),
        NODE: host.name,
        SECONDS_TO_DRAIN: Math.ceil(drain.timeoutMs / 1000),
        TELL_SECONDS,
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

function memberChanges({ inventory, fleet, leaving }: Parting, before: BeforeMembership): readonly Change[] {
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
 * etcd has no member of the host: removed through another control plane and the quorum gate, never left to kubeadm, whose
 * reset wipes the data also where the removal failed.
 */
export const memberRemoved = (before: BeforeMembership): Step => ({
  name: 'etcd-member-removed',
  settleMs: 60_000,
  diff: (target) => memberChanges(ofHost(target), before),
});

function nodeChanges(parting: Parting): readonly Change[] {
  if (registered(parting) === undefined) return [];
  const { inventory, fleet, leaving } = parting;
  const control = acting(fleet, leaving.name);
  return [
    {
      summary: `delete node ${leaving.name} from ${inventory.name}`,
      apply: runs(control, sh`${kubectl(inventory, control)} delete node --ignore-not-found ${leaving.name}`),
    },
  ];
}

/** The cluster no longer knows the node, where the API answers. After its kubelet has gone: that would register it again. */
export const nodeDeleted: AnyStep = { name: 'node-deleted', diff: (target: Any) => nodeChanges(ofHost(target)) };

/** Nothing in the cluster is left of somebody who is gone: neither an etcd member nor a node. */
export const forgotten = (leaving: Leaving, before: BeforeMembership): readonly Step<'cluster'>[] => [
  {
    name: `etcd-member-removed-${leaving.name}`,
    settleMs: 60_000,
    diff: ({ inventory, fleet }) => memberChanges({ inventory, fleet, leaving }, before),
  },
  {
    name: `node-deleted-${leaving.name}`,
    diff: ({ inventory, fleet }) => nodeChanges({ inventory, fleet, leaving }),
  },
];
