import { begunUpgrade, staticPodVersions } from '../cluster/api-versions.ts';
import type { ClusterUp, ClusterView } from '../cluster/fleet/view.ts';
import { passRestartGate } from '../cluster/restart-gate.ts';
import { standing } from '../cluster/standing.ts';
import { waitForApi } from '../engine/combinators.ts';
import { ABOUT_MS } from '../engine/restarts.ts';
import type { Change, Restart, Step, Target } from '../engine/step.ts';
import { Refused } from '../errors.ts';
import type { Inventory, LinuxHost } from '../inventory/inventory.ts';
import { applySettings } from '../kubeadm/apply-settings.ts';
import { SETTLED_MS } from '../kubeadm/ready.step.ts';
import { kubeadmUpgrade } from '../kubeadm/upgrade-job.ts';
import { paths } from '../paths.ts';
import type { On } from '../ssh/remote.ts';
import { script } from '../templates.ts';
import { compareVersions } from '../versions.ts';
import { appliesStill, wasCutIn } from './begun.ts';
import { pullEtcdBetween } from './fetch.step.ts';
import { etcdBefore, foundAt, type Hop, withEtcdTag } from './hop.ts';
import { isOlder, KUBERNETES_PODS, oldPods } from './versions.ts';

const MINUTES = 60_000;

/**
 * Saves what a way back needs, before a host gets a version: etcd's data, once for each version, and /etc/kubernetes of
 * the host.
 */
export type KeepBefore = (on: On, host: LinuxHost, version: string) => Promise<void>;

/** The wait for a cluster that does not answer. */
const waits = (cluster: Exclude<ClusterView, ClusterUp>): readonly Change[] =>
  cluster.state === 'down' ? [waitForApi(cluster)] : [];

const manifestOf = (pod: string): string => `/etc/kubernetes/manifests/${pod}.yaml`;

/** The manifests of a control plane. */
const manifests = ({ etcd }: Inventory): readonly string[] => [
  ...(etcd.topology === 'stacked' ? ['etcd'] : []),
  ...KUBERNETES_PODS,
];

const hasMarker = ({ inventory, facts }: Target): boolean => begunUpgrade(inventory, facts) !== undefined;

/**
 * Puts back a manifest that kubeadm moved away before it was killed. Only where the marker of an upgrade says why it is
 * missing: otherwise an operator may have moved it.
 */
export const manifestsBack: Step = {
  name: 'manifests-back',
  watches: ({ inventory }) => ({ files: manifests(inventory).map(manifestOf) }),
  settleMs: 2 * MINUTES,
  diff: (target) => {
    const { inventory, host, facts } = target;
    const missing = manifests(inventory).filter(
      (pod) => (facts.files.get(manifestOf(pod))?.kind ?? 'absent') === 'absent',
    );
    if (missing.length === 0 || !hasMarker(target)) return [];
    return [
      {
        summary: `put back ${missing.map(manifestOf).join(', ')}, which an upgrade that was cut off had moved away`,
        apply: async (on) => {
          await on(host).job('manifest-back', script('upgrade/manifest-back.sh', { NAMES: missing }));
        },
      },
    ];
  },
};

/** Waits for the API of a cluster whose control plane has just got its manifests back. */
export const apiAnswers: Step = {
  name: 'api-answers',
  settleMs: 5 * MINUTES,
  diff: (target) =>
    hasMarker(target) && target.fleet.cluster.state === 'down' ? [waitForApi(target.fleet.cluster)] : [],
};

/**
 * True while the member of a stacked etcd must be brought to a patch before the hop. False while the cluster does not
 * answer.
 */
export const hasOldEtcd = (target: Target, hop: Hop): boolean => {
  const { inventory, host, fleet } = target;
  const minimum = etcdBefore(hop);
  if (minimum === undefined || inventory.etcd.topology !== 'stacked' || standing(target) !== 'joined') return false;
  return fleet.cluster.state === 'up' && isOlder(staticPodVersions(fleet.cluster, 'etcd').get(host.name), minimum);
};

/**
 * Brings the member of a stacked etcd to the oldest patch from which the hop may go on, where kubeadm would skip it.
 * The ClusterConfiguration does not change, so that kubeadm of the hop puts its own etcd in place.
 */
export const etcdMinimum = (hop: Hop): Step => ({
  name: 'etcd-minimum',
  watches: { trees: [paths.upgrade] },
  settleMs: 5 * MINUTES,
  diff: (target) => {
    const { inventory, host, fleet } = target;
    const minimum = etcdBefore(hop);
    if (minimum === undefined || inventory.etcd.topology !== 'stacked' || standing(target) !== 'joined') return [];
    const { cluster } = fleet;
    if (cluster.state !== 'up') return waits(cluster);
    const found = staticPodVersions(cluster, 'etcd').get(host.name);
    if (!isOlder(found, minimum)) return [];
    return [
      {
        summary:
          `bring etcd of ${host.name} to ${minimum}, the oldest from which ${hop.version} may go on (found ` +
          `${found ?? 'unknown'})`,
        disrupts: true,
        restarts: [{ what: 'etcd', hosts: [host.name], aboutMs: ABOUT_MS.staticPod }],
        apply: async (on) => {
          await pullEtcdBetween(on, target, hop);
          await passRestartGate(target, on);
          await applySettings(on, withEtcdTag(inventory, `${minimum}-0`), host, {
            job: 'etcd-minimum',
            parts: ['etcd'],
          });
        },
      },
    ];
  },
});

const restartsOf = ({ inventory, host }: Target): readonly Restart[] => [
  { what: 'API server', hosts: [host.name], aboutMs: ABOUT_MS.apiServer },
  ...(inventory.etcd.topology === 'stacked'
    ? [{ what: 'etcd', hosts: [host.name], aboutMs: ABOUT_MS.staticPod } as const]
    : []),
  { what: 'controller manager, scheduler', hosts: [host.name], aboutMs: ABOUT_MS.staticPod },
];

/** The first control plane of a hop: kubeadm writes the version into the cluster there. */
const isFirst = (cluster: ClusterUp, { version }: Hop): boolean => compareVersions(cluster.version, version) < 0;

/**
 * @throws Refused while a member of a stacked etcd is older than every member must be before the hop. kubeadm checks
 * nothing of it
 */
function refuseOldMembers({ inventory, host }: Target, cluster: ClusterUp, hop: Hop): void {
  const minimum = etcdBefore(hop);
  if (minimum === undefined || inventory.etcd.topology !== 'stacked') return;
  const old = [...staticPodVersions(cluster, 'etcd')].filter(([, version]) => isOlder(version, minimum));
  if (old.length === 0) return;
  throw new Refused(
    'etcd-too-old',
    host.name,
    `every member of etcd must have ${minimum} before one gets the etcd of Kubernetes ${hop.version} (found ` +
      `${old.map(([name, version]) => `${version} on ${name}`).join(', ')})`,
    'run `kbuild upgrade` again: it brings the members there first',
  );
}

/** Upgrades API server, controller manager, scheduler and a stacked etcd of one control plane with kubeadm. */
export const controlPlaneUpgraded = (hop: Hop, keep: KeepBefore): Step => ({
  name: 'control-plane-upgraded',
  settleMs: 5 * MINUTES,
  diff: (target) => {
    const { inventory, host, fleet } = target;
    const { cluster } = fleet;
    if (standing(target) !== 'joined') return [];
    if (cluster.state !== 'up') return waits(cluster);
    const old = oldPods(cluster, host.name, hop.version);
    const wasCut = wasCutIn(target, hop);
    if (old.length === 0 && !wasCut && !isFirst(cluster, hop)) return [];
    const found = foundAt(hop, staticPodVersions(cluster, 'kube-apiserver').get(host.name) ?? 'unknown');
    return [
      {
        summary:
          found === hop.version
            ? `finish the upgrade of the control plane of ${host.name} to ${hop.version} (it was cut off)`
            : `upgrade the control plane of ${host.name} from ${found} to ` +
              `${hop.version}${wasCut ? ' (an upgrade was cut off here)' : ''}`,
        disrupts: true,
        restarts: restartsOf(target),
        apply: async (on) => {
          refuseOldMembers(target, cluster, hop);
          await passRestartGate(target, on);
          await keep(on, host, hop.version);
          const applies = isFirst(cluster, hop) || appliesStill(target, hop);
          await kubeadmUpgrade(on(host), inventory, host, applies ? 'apply' : 'node');
        },
      },
    ];
  },
});

/** Waits until the components of a control plane have run for 30 s with the version of the hop. */
export const componentsSettled = (hop: Hop): Step => ({
  name: 'components-settled',
  settleMs: 5 * MINUTES,
  diff: (target) => {
    const { host, fleet } = target;
    const { cluster } = fleet;
    if (standing(target) !== 'joined') return [];
    if (cluster.state !== 'up') return waits(cluster);
    const pods = cluster.pods.filter(({ node, labels }) => node === host.name && labels['tier'] === 'control-plane');
    const young = pods.filter(
      ({ ready, startedMs, lastRestartMs }) =>
        !ready || cluster.nowMs - startedMs < SETTLED_MS || cluster.nowMs - lastRestartMs < SETTLED_MS,
    );
    const found = [...oldPods(cluster, host.name, hop.version), ...young.map(({ name }) => name)];
    return found.length === 0
      ? []
      : [{ summary: `wait until the components of ${host.name} have run for 30 s (found ${found.join(', ')})` }];
  },
});
