import { ailingControllers } from '../cluster/ailments.ts';
import { lowestApiServer } from '../cluster/api-versions.ts';
import type { ClusterUp, NodeView, PodView } from '../cluster/fleet/view.ts';
import { acting } from '../cluster/live.ts';
import { controlPlaneNodes, OLD_WORKER } from '../cluster/nodes.ts';
import { standing } from '../cluster/standing.ts';
import { waitForApi } from '../engine/combinators.ts';
import type { AnyTarget } from '../engine/drain.ts';
import { noteForgotten, noteWritten, taint } from '../engine/note.ts';
import { ABOUT_MS } from '../engine/restarts.ts';
import type { Step } from '../engine/step.ts';
import { kubeadmAddons, kubeadmRules } from '../kubeadm/upgrade-job.ts';
import { compareVersions, minorFacts, minorOf, versionIn } from '../versions.ts';
import { KUBEADM_RULES } from './addons.facts.ts';
import type { Hop } from './hop.ts';
import { isBehind, isOlder, oldPods } from './versions.ts';

const MINUTES = 60_000;

/** The addons of kubeadm by the label of their pods, and the version that each has at least after a hop. */
const ADDONS: readonly { readonly label: string; readonly name: string; readonly wanted: (hop: Hop) => string }[] = [
  { label: 'kube-proxy', name: 'kube-proxy', wanted: ({ version }) => version },
  {
    label: 'kube-dns',
    name: 'CoreDNS',
    // A patch release of Kubernetes may bring a newer one.
    wanted: ({ version }) => versionIn(minorFacts(minorOf(version))?.images.coredns) ?? '0.0.0',
  },
];

const imageVersion = ({ images }: PodView): string | undefined => versionIn(images[0]?.replace(/^.*:/, ''));

/**
 * Upgrades kube-proxy and CoreDNS when every control plane has the version of the hop, and waits until their pods run.
 * Before that the change is only foreseen: kubeadm skips the addons, without an error, while it sees an older API
 * server.
 */
export const addonsUpgraded = (hop: Hop): Step<'cluster'> => ({
  name: 'addons-upgraded',
  settleMs: 30 * MINUTES,
  diff: ({ inventory, facts, fleet }) => {
    if (facts.state !== 'up') return facts.state === 'down' ? [waitForApi(facts)] : [];
    // Their kubelets end and start no pod: the DaemonSet does that when they report again.
    const silent = new Set(facts.nodes.filter(({ ready }) => !ready).map(({ name }) => name));
    const old = ADDONS.flatMap(({ label, name, wanted }) => {
      const pods = facts.pods.filter(
        ({ namespace, labels, node }) =>
          namespace === 'kube-system' && labels['k8s-app'] === label && !silent.has(node),
      );
      const behind = pods.filter((pod) => isOlder(imageVersion(pod), wanted(hop)));
      if (behind.length === 0) return [];
      return [
        `${name}${behind.length === pods.length ? '' : `, ${String(behind.length)} of ${String(pods.length)} pods`}`,
      ];
    });
    if (old.length === 0) return [];
    const change = {
      summary: `upgrade the addons of Kubernetes ${hop.version} (found older ${old.join('; ')})`,
      restarts: [{ what: 'kube-proxy', hosts: facts.nodes.map(({ name }) => name), aboutMs: ABOUT_MS.pod, atOnce: 1 }],
    };
    if (isOlder(lowestApiServer(facts), hop.version)) return [{ ...change, foreseen: true }];
    return [
      {
        ...change,
        apply: async (on) => {
          const host = acting(fleet);
          await kubeadmAddons(on(host), inventory, host);
        },
      },
    ];
  },
});

/** What keeps a control plane from taking over while another one restarts; empty if it serves. */
function absences(cluster: ClusterUp, { name, ready, reason }: NodeView): readonly string[] {
  const server = cluster.apiServers.get(name) ?? 'no answer';
  return [...(ready ? [] : [`its node: ${reason}`]), ...(server === 'ok' ? [] : [`its API server: ${server}`])];
}

/**
 * Controller manager and scheduler of a control plane that could not take over from those of this host. One that does
 * not work here either is not asked for: nothing is taken away, and the upgrade may be what mends it.
 */
function missedControllers(cluster: ClusterUp, host: string, { name }: NodeView): readonly string[] {
  const own = ailingControllers(cluster, host).map(componentOf);
  return name === host ? [] : ailingControllers(cluster, name).filter((text) => !own.includes(componentOf(text)));
}

const componentOf = (text: string): string => text.slice(0, text.indexOf(':'));

/**
 * Waits until every control plane is Ready and its API server, its controller manager and its scheduler serve, before
 * one of them restarts. kubeadm itself checks nodes only, for `upgrade apply`, when kbuild has brought etcd to its
 * minimum already, and nothing for `upgrade node`. Holds where nothing of the host is older than the hop. A host whose
 * static pods are upgraded does not wait for its own node: the newer kubelet may be what mends it. The gate asks for
 * etcd and for the leases, immediately before the restart (`passRestartGate`).
 */
export const controlPlanesReady = (hop: Hop): Step => ({
  name: 'control-planes-ready',
  settleMs: 5 * 60_000,
  // While a host of the control plane is absent, no other one restarts.
  needs: 'whole-control-plane',
  diff: (target) => {
    const { host, fleet } = target;
    const { cluster } = fleet;
    if (cluster.state !== 'up' || standing(target) !== 'joined' || !isBehind(target, hop)) return [];
    const restarts = oldPods(cluster, host.name, hop.version).length > 0;
    const found = controlPlaneNodes(cluster)
      .filter(({ name }) => name !== host.name || restarts)
      .map((node) => ({
        name: node.name,
        absent: [
          ...absences(cluster, node),
          ...missedControllers(cluster, host.name, node).map((text) => `its ${text}`),
        ],
      }))
      .filter(({ absent }) => absent.length > 0);
    if (found.length === 0) return [];
    const names = found.map(({ name }) => name).join(', ');
    const listed = found.map(({ name, absent }) => `${name}: ${absent.join(', ')}`).join('; ');
    return [
      {
        summary:
          `wait until ${names} serves again (found ${listed}): until then no control plane is restarted; ` +
          '`journalctl -u kubelet` there says more',
      },
    ];
  },
});

/**
 * Makes what `kubeadm upgrade apply` leaves in the cluster where some of it is missing: a control plane on which it was
 * cut off may be gone for good, or an older kbuild has ended it as `kubeadm upgrade node`. Holds until every control
 * plane has the version of the hop.
 */
export const rulesOfKubeadm = (hop: Hop): Step<'cluster'> => ({
  name: 'kubeadm-rules',
  settleMs: 60_000,
  diff: ({ inventory, facts, fleet }) => {
    if (facts.state !== 'up' || isOlder(lowestApiServer(facts), hop.version)) return [];
    const missing = KUBEADM_RULES.filter(({ since }) => compareVersions(minorOf(hop.version), since) >= 0)
      .map(({ object }) => object)
      .filter((object) => !facts.kubeadmRules.has(object));
    if (missing.length === 0) return [];
    return [
      {
        summary: `make what kubeadm's upgrade to ${hop.version} leaves in the cluster (found no ${missing.join(', ')})`,
        apply: async (on) => {
          const host = acting(fleet);
          await kubeadmRules(on(host), inventory, host);
        },
      },
    ];
  },
});

/**
 * The taint of workers that are drained later. Pods that leave another worker go to upgraded ones where they can, and
 * move once instead of twice (as kops and Cluster API do).
 */
const mark = taint(OLD_WORKER, 'PreferNoSchedule');

/** True for a node with the taint. */
export const isMarked = (node: Pick<NodeView, 'taints'> | undefined): boolean =>
  node?.taints.some(({ key }) => key === OLD_WORKER) === true;

/** Marks a worker that is drained later. */
export const marked = (isOld: (target: AnyTarget) => boolean): Step =>
  noteWritten<'linux'>('marked', mark, (target) =>
    isOld(target)
      ? { summary: `let pods prefer other nodes than ${target.host.name} until it is upgraded`, text: '' }
      : undefined,
  );

/** Takes the mark away. `willMark`: nodes that the same run marks before, so that the plan shows this change. */
export const unmarked = (willMark: (target: AnyTarget) => boolean): Step =>
  noteForgotten<'linux'>('unmarked', mark, {
    summary: ({ host }) => `let pods come to ${host.name} as to any node`,
    willStand: willMark,
  });
