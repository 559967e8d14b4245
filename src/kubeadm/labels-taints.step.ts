import { isControlPlane } from '../cluster/fleet/joined.ts';
import { NODE_ANNOTATION } from '../cluster/fleet/ownership.ts';
import type { NodeView } from '../cluster/fleet/view.ts';
import { acting } from '../cluster/live.ts';
import {
  type Applied,
  appliedOf,
  CONTROL_PLANE_LABELS,
  CONTROL_PLANE_TAINT,
  marksControlPlanes,
  taintId,
  taintText,
  wantedTaints,
} from '../cluster/nodes.ts';
import { standing } from '../cluster/standing.ts';
import type { Seen } from '../cluster/standings.ts';
import type { Step, Target } from '../engine/step.ts';
import { kubectl } from '../inventory/api-server.ts';
import { WINDOWS_TAINT } from '../inventory/hosts.ts';
import type { Host } from '../inventory/inventory.ts';
import type { On } from '../ssh/remote.ts';
import { script } from '../templates.ts';

/** A target of either system. */
type Any = Pick<Target<'linux' | 'windows'>, 'inventory' | 'fleet' | 'host'> & Seen;

interface Difference {
  readonly set: readonly string[];
  readonly unset: readonly string[];
  readonly taint: readonly string[];
  readonly untaint: readonly string[];
  readonly annotation: string;
}

/**
 * The labels of kubeadm that a control plane's node lacks. Only if the node has no role: kubeadm's join was
 * interrupted, or the node was registered again. If a node with the role lacks the other label, the operator has
 * removed it.
 */
function missingRole({ inventory, host, facts }: Any, node: NodeView | undefined): readonly string[] {
  if (host.role !== 'control-plane' || !marksControlPlanes(inventory)) return [];
  if (node === undefined || node.role === 'control-plane' || !isControlPlane(facts.kubernetesTraces)) return [];
  return CONTROL_PLANE_LABELS.filter((label) => !(label in node.labels) && !(label in host.labels));
}

/**
 * What differs between a node and the inventory; undefined if nothing does. A node that does not exist yet lacks its
 * labels.
 */
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
        (taint) =>
          !live.some((found) => taintId(found) === taintId(taint) && (found.value ?? '') === (taint.value ?? '')),
      )
      .map(taintText),
    untaint: live.map(taintId).filter((id) => ours.has(id) && !taints.some((taint) => taintId(taint) === id)),
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

async function apply(
  { inventory, host, fleet }: Any,
  on: On,
  { set, unset, taint, untaint, annotation }: Difference,
): Promise<void> {
  const control = acting(fleet);
  await on(control).run(
    script('kubeadm/label-node.sh', {
      KUBECTL: kubectl(inventory, control).join(' '),
      NODE: host.name,
      LABELS: [...set, ...unset.map((name) => `${name}-`)],
      TAINTS: [...taint, ...untaint.map((id) => `${id}-`)],
      ANNOTATION: `${NODE_ANNOTATION}=${annotation}`,
    }),
  );
}

/** Sets a node's labels and taints, and removes those that kbuild set and the inventory no longer has. */
export const labelsAndTaints: Step & Step<'windows'> = {
  name: 'labels-taints',
  diff: (target: Any) => {
    const { host, fleet } = target;
    const { cluster } = fleet;
    const node = cluster.state === 'up' ? cluster.nodes.find(({ name }) => name === host.name) : undefined;
    const found = difference(target, node);
    return found === undefined ? [] : [{ summary: summary(host, found), apply: (on) => apply(target, on, found) }];
  },
};
