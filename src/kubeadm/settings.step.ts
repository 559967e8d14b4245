import { duringRotation } from '../certificates/rotation.refusal.ts';
import { ailingControllers } from '../cluster/ailments.ts';
import { isMixed, refuseMixed } from '../cluster/api-versions.ts';
import { type Fleet, linuxFacts, observedLinux } from '../cluster/fleet/fleet.ts';
import { FIELD_MANAGER } from '../cluster/fleet/ownership.ts';
import type { ClusterUp } from '../cluster/fleet/view.ts';
import { acting, liveCluster } from '../cluster/live.ts';
import { passEtcdGate } from '../cluster/members.ts';
import { passControlPlaneGate } from '../cluster/restart-gate.ts';
import { standing } from '../cluster/standing.ts';
import { waitForApi } from '../engine/combinators.ts';
import type { Step, Target } from '../engine/step.ts';
import { kubectl } from '../inventory/api-server.ts';
import type { Inventory, LinuxHost } from '../inventory/inventory.ts';
import type { On } from '../ssh/remote.ts';
import { script } from '../templates.ts';
import { applySettings, inOrder, type KubeadmPart } from './apply-settings.ts';
import { kubeadmPatches } from './control-plane-files.step.ts';
import { dnsDifferences, replicasBack } from './coredns.ts';
import { refuseFixed, refuseKubeProxy } from './fixed-settings.step.ts';
import { type IdleArgument, idleArguments } from './in-effect.ts';
import { INVENTORY_NAME, settingsPreview, settingsRestarts } from './settings-preview.step.ts';
import {
  beforeKubeletsServe,
  type Begun,
  editedParts,
  editedPatches,
  isEtcdEdited,
  settingsNote,
  type SettingsPart,
  unfinishedNote,
} from './settings.ts';

/** The joined control planes except this host. */
const others = (inventory: Inventory, fleet: Fleet, host: LinuxHost): readonly LinuxHost[] =>
  observedLinux(fleet)
    .filter((seen) => seen.host.role === 'control-plane' && seen.host.name !== host.name)
    .filter((seen) => standing({ inventory, fleet, ...seen }) === 'joined')
    .map((seen) => seen.host);

/**
 * The parts that kubeadm must rewrite for edited settings: on the acting control plane, and on every other control
 * plane.
 */
export function rewritten(
  inventory: Inventory,
  cluster: ClusterUp,
  edited: readonly SettingsPart[],
): { readonly acting: readonly KubeadmPart[]; readonly others: readonly KubeadmPart[] } {
  const etcd: readonly KubeadmPart[] = inventory.etcd.topology === 'stacked' ? ['etcd'] : [];
  const patches = editedPatches(inventory, cluster);
  const isPatched = (...targets: readonly string[]) =>
    patches.some((name) => targets.some((target) => name.startsWith(target)));
  const eachOf: Readonly<Record<SettingsPart, readonly KubeadmPart[]>> = {
    cluster: ['manifests', ...(isEtcdEdited(inventory, cluster) ? etcd : [])],
    kubelet: [],
    kubeProxy: [],
    proxy: ['manifests'],
    // Pulling comes first: if an image is missing, the run ends before a manifest names it.
    images: ['pull', 'manifests', ...etcd],
    dns: [],
    patches: [...(isPatched('kube-') ? (['manifests'] as const) : []), ...(isPatched('etcd') ? etcd : [])],
  };
  const actingOf: Readonly<Record<SettingsPart, readonly KubeadmPart[]>> = {
    cluster: ['cluster'],
    kubelet: ['kubelet'],
    kubeProxy: ['kubeProxy'],
    proxy: ['kubeProxy'],
    images: ['cluster', 'kubeProxy', 'coredns'],
    dns: ['coredns'],
    patches: [
      ...(isPatched('corednsdeployment') ? (['coredns'] as const) : []),
      ...(isPatched('kubeproxydaemonset') ? (['kubeProxy'] as const) : []),
    ],
  };
  const others = inOrder(edited.flatMap((part) => eachOf[part]));
  return { acting: inOrder([...others, ...edited.flatMap((part) => actingOf[part])]), others };
}

/** Parts that restart static pods of a control plane. */
const RESTARTS: readonly KubeadmPart[] = ['cluster', 'manifests', 'etcd'];

/** True for a control plane on which a component does not work: the new settings may repair it. */
const isAiling = (fleet: Fleet, { name }: LinuxHost): boolean => {
  const cluster = liveCluster(fleet);
  return cluster.apiServers.get(name) !== 'ok' || ailingControllers(cluster, name).length > 0;
};

/**
 * Writes the patch files of one control plane, then applies the parts that read them. `begin` comes before the first
 * change.
 */
async function rewrite(
  target: Target,
  on: On,
  { parts, note, begin }: { readonly parts: readonly KubeadmPart[]; readonly note: string; readonly begin: Begin },
): Promise<void> {
  const { inventory, host, fleet } = target;
  // The host's own member may be down: this is how an argument is corrected with which etcd does not start.
  if (parts.includes('etcd')) await passEtcdGate(inventory, on(acting(fleet)), host, { mayMend: true });
  if (parts.some((part) => RESTARTS.includes(part))) await passControlPlaneGate(target, on);
  await begin();
  // The step that writes the patches may not have run on this host yet.
  for (const change of kubeadmPatches.diff(target)) await change.apply?.(on);
  const dnsReplicas = fleet.cluster.state === 'up' ? replicasBack(inventory, fleet.cluster) : undefined;
  await applySettings(on, inventory, host, { parts, note, dnsReplicas });
}

/** Runs before the first control plane changes. */
type Begin = () => Promise<void>;

/**
 * Has kubeadm write edited parts on all joined control planes; the acting one is the last, and records the settings.
 * Calls `begin` before each of them changes, after its gates.
 */
export async function rewriteAll(
  { inventory, fleet }: Pick<Target<'cluster'>, 'inventory' | 'fleet'>,
  { acting: onActing, others: onOthers }: ReturnType<typeof rewritten>,
  on: On,
  begin: Begin = () => Promise.resolve(),
): Promise<void> {
  const host = acting(fleet);
  const targetOf = (control: LinuxHost): Target => {
    return { inventory, host: control, facts: linuxFacts(fleet, control)!, fleet };
  };
  if (onOthers.length > 0) {
    // A failing control plane comes first: until it works again, the gate lets no other one change.
    const rest = others(inventory, fleet, host);
    const ailing = [host, ...rest].filter((one) => isAiling(fleet, one));
    for (const other of [...ailing, ...rest.filter((one) => !ailing.includes(one))])
      await rewrite(targetOf(other), on, { parts: onOthers, note: '', begin });
  }
  // The note comes last: every control plane has the settings by then.
  await rewrite(targetOf(host), on, { parts: onActing, note: JSON.stringify(settingsNote(inventory)), begin });
}

/** A function that calls `begin` the first time, and then returns the same promise. */
export const once = (begin: Begin): Begin => {
  let begun: Promise<void> | undefined;
  return () => (begun ??= begin());
};

/** The edited parts, and `dns` if its values in the cluster have changed without kbuild. */
const withDrift = (edited: readonly SettingsPart[], drift: readonly string[]): readonly SettingsPart[] =>
  drift.length === 0 || edited.includes('dns') ? edited : [...edited, 'dns'];

/** The cluster whose parts with idle arguments count as begun: kubeadm writes them once more. */
const withIdle = (cluster: ClusterUp, idle: readonly IdleArgument[]): ClusterUp => {
  const begun = ['cluster', ...(idle.some(({ component }) => component === 'etcd') ? ['etcd'] : [])];
  // The view's fields are getters, which throw for what is not known: they are not copied.
  return idle.length === 0
    ? cluster
    : (Object.create(cluster, { unfinished: { value: [...(cluster.unfinished ?? []), ...begun] } }) as ClusterUp);
};

const MOST_IDLE = 3;

const idleText = (idle: readonly IdleArgument[]): readonly string[] => [
  ...idle.slice(0, MOST_IDLE).map(({ host, component, flag }) => `${component} of ${host} without ${flag}`),
  ...(idle.length > MOST_IDLE ? [`${String(idle.length - MOST_IDLE)} more arguments without effect`] : []),
];

function foundIn(drift: readonly string[], idle: readonly IdleArgument[], { unfinished = [] }: ClusterUp): string {
  const found = [
    ...idleText(idle),
    ...(unfinished.length === 0 ? [] : ['a change that may not have reached all control planes']),
    ...(drift.length === 0 ? [] : [`CoreDNS with ${drift.join(', ')}`]),
  ];
  return found.length === 0 ? '' : ` (found ${found.join(', ')})`;
}

/**
 * Records the change before it begins: an interrupted run leaves it on some control planes, even if the operator then
 * sets the inventory back.
 */
export async function noteBegin(
  { inventory, fleet }: Pick<Target<'cluster'>, 'inventory' | 'fleet'>,
  begun: readonly Begun[],
  on: On,
): Promise<void> {
  const cluster = liveCluster(fleet);
  if (begun.length === 0 || cluster.settings === undefined) return;
  const host = acting(fleet);
  await on(host).run(
    script('engine/apply-objects.sh', {
      KUBECTL: kubectl(inventory, host).join(' '),
      MANAGER: FIELD_MANAGER,
      FIRST: JSON.stringify(unfinishedNote(inventory, cluster, begun)),
      CRDS: [],
      OBJECTS: '',
    }),
  );
}

/**
 * Applies kubeadm settings that were edited after init, with kubeadm's own phases: one control plane after another,
 * each until it is ready again. Refuses settings for which kubeadm has no phase.
 */
export const kubeadmSettings: Step<'cluster'> = {
  name: 'kubeadm-settings',
  // The API may need hosts whose runtime or kubelet this run restarts at the same time.
  settleMs: 5 * 60_000,
  diff: ({ inventory: whole, facts, fleet }) => {
    if (facts.state === 'absent') return [];
    if (facts.state === 'down') return [waitForApi(facts)];
    const inventory = beforeKubeletsServe(whole, facts);
    // Edited settings do not run yet; during an upgrade there are components of two versions.
    const isSettled = editedParts(inventory, facts).length === 0 && !isMixed(facts);
    const idle = isSettled ? idleArguments(inventory, facts) : [];
    const cluster = withIdle(facts, idle);
    const edited = editedParts(inventory, cluster);
    // During an upgrade the newer kubeadm may have written the Deployment. Edited settings are refused below.
    const drift = isMixed(facts) ? [] : dnsDifferences(inventory, facts);
    if (edited.length === 0 && drift.length === 0) return [];
    if (edited === 'unknown') refuseKubeProxy(inventory, facts);
    else if (edited.includes('cluster')) refuseFixed(inventory, facts);
    const parts = withDrift(edited === 'unknown' ? [] : edited, drift);
    if (parts.length > 0)
      refuseMixed(inventory.name, facts, `a change of ${parts.map((part) => INVENTORY_NAME[part]).join(', ')}`);
    const work = rewritten(inventory, cluster, parts);
    const [rotated] =
      work.others.length > 0 ? duringRotation(inventory, fleet, 'the control plane cannot change its settings') : [];
    if (rotated !== undefined) throw rotated;
    return [
      {
        summary:
          parts.length === 0
            ? `note the kubeadm settings of ${inventory.name} (found no note)`
            : `apply the ${edited.includes(parts[0]!) ? 'edited ' : ''}settings of ` +
              `${parts.map((part) => INVENTORY_NAME[part]).join(', ')} to the live ` +
              `cluster${foundIn(drift, idle, facts)}`,
        disrupts: work.others.length > 0,
        restarts: settingsRestarts(inventory, cluster, parts, work.acting),
        ...(parts.length === 0
          ? {}
          : { preview: () => Promise.resolve(settingsPreview(inventory, facts, parts, drift)) }),
        apply: (on) =>
          rewriteAll(
            { inventory, fleet },
            work,
            on,
            once(() => noteBegin({ inventory, fleet }, parts, on)),
          ),
      },
    ];
  },
};
