import { acting } from '../cluster/acting.ts';
import { CONTROL_PLANE_LABELS, marksControlPlanes } from '../cluster/control-plane-nodes.ts';
import { kubectl } from '../configuration/kubectl.ts';
import type { Seen } from '../cluster/seen.ts';
import { standing } from '../cluster/standing.ts';
import {
  appliedOf,
  CONTROL_PLANE_TAINT,
  taintId,
  taintText,
  wantedTaints,
  type Applied,
} from '../configuration/taints.ts';
import { WINDOWS_TAINT } from '../configuration/windows-kubeadm.ts';
import type { Step, Target } from '../engine/step.ts';
import type { NodeView } from '../facts/cluster.ts';
import { isControlPlane } from '../facts/joined.ts';
import { NODE_ANNOTATION } from '../facts/ownership.ts';
import type { Host } from '../model/inventory.ts';
import type { On } from '../remote/remote.ts';
import { script } from '../templates.ts';

/** A host of either system. */
type Any = Pick<Target<'linux' | 'windows'>, 'inventory' | 'fleet' | 'host'> & Seen;

interface Difference {
  readonly set: readonly string[];
  readonly unset: readonly string[];
  readonly taint: readonly string[];
  readonly untaint: readonly string[];
  readonly annotation: string;
}

/**
 * The labels that a control plane's node lacks of kubeadm's: all of them where it has no role, because kubeadm's join was cut or
 * the node was registered again. A node with the role may lack the others: its operator took them away.
 */
function missingRole({ inventory, host, facts }: Any, node: NodeView | undefined): readonly string[] {
  if (host.role !== 'control-plane' || !marksControlPlanes(inventory)) return [];
  if (node === undefined || node.role === 'control-plane' || !isControlPlane(facts.kubernetesTraces)) return [];
  return CONTROL_PLANE_LABELS.filter((label) => !(label in node.labels) && !(label in host.labels));
}

/** What differs between a node and the inventory; undefined when nothing does. A node that is not there yet lacks its labels. */
function difference(target: Any, node: NodeView | undefined): Difference | undefined {
  const { host } = target;
  const taints = wantedTaints(host);
  const before = appliedOf(node);
  const annotation = JSON.stringify({
    labels: Object.keys(host.labels).sort(),
    taints: (host.taints ?? []).map(taintId).sort(),
  } satisfies Applied);
  // kubeadm sets the taints when the node joins. The node of a host that has joined registers again without them.
  const live = node?.taints ?? (standing(target) === 'joined' ? [] : taints);
  const ours = new Set([...before.taints, taintId(CONTROL_PLANE_TAINT), taintId(WINDOWS_TAINT)]);
  const found: Difference = {
    set: [
      ...missingRole(target, node).map((name) => `${name}=`),
      ...Object.entries(host.labels)
        .filter(([name, value]) => node?.labels[name] !== value)
        .map(([name, value]) => `${name}=${value}`),
    ],
    unset: before.labels.filter((name) => !(name in host.labels) && node !== undefined && name in node.labels),
    taint: taints
      .filter(
        (taint) => !live.some((one) => taintId(one) === taintId(taint) && (one.value ?? '') === (taint.value ?? '')),
      )
      .map(taintText),
    untaint: live.map(taintId).filter((one) => ours.has(one) && !taints.some((taint) => taintId(taint) === one)),
    annotation,
  };
  const empty = JSON.stringify({ labels: [], taints: [] } satisfies Applied);
  const noted = node?.annotations[NODE_ANNOTATION] ?? empty;
  const same = [found.set, found.unset, found.taint, found.untaint].every((list) => list.length === 0);
  return same && noted === annotation ? undefined : found;
}

function summary(host: Host, { set, unset, taint, untaint }: Difference): string {
  const parts = [
    ...(set.length === 0 ? [] : [`label ${host.name} ${set.join(', ')}`]),
    ...(unset.length === 0 ? [] : [`take label ${unset.join(', ')} from ${host.name}`]),
    ...(taint.length === 0 ? [] : [`taint ${host.name} ${taint.join(', ')}`]),
    ...(untaint.length === 0 ? [] : [`take taint ${untaint.join(', ')} from ${host.name}`]),
  ];
  return parts.length === 0 ? `note on ${host.name} which labels and taints are kbuild's` : parts.join('; ');
}

async function apply({ inventory, host, fleet }: Any, on: On, due: Difference): Promise<void> {
  const control = acting(fleet);
  await on(control).run(
    script('linux/label-node.sh', {
      KUBECTL: kubectl(inventory, control).join(' '),
      NODE: host.name,
      LABELS: [...due.set, ...due.unset.map((name) => `${name}-`)],
      TAINTS: [...due.taint, ...due.untaint.map((one) => `${one}-`)],
      ANNOTATION: `${NODE_ANNOTATION}=${due.annotation}`,
    }),
  );
}

/** A node's labels and taints as the inventory has them; those that it no longer has are taken back. Others' are left alone. */
export const labelsAndTaints: Step & Step<'windows'> = {
  name: 'labels-taints',
  diff: (target: Any) => {
    const { host, fleet } = target;
    const { cluster } = fleet;
    const node = cluster.state === 'up' ? cluster.nodes.find(({ name }) => name === host.name) : undefined;
    const due = difference(target, node);
    return due === undefined ? [] : [{ summary: summary(host, due), apply: (on) => apply(target, on, due) }];
  },
};
