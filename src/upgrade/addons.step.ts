import { lowestApiServer } from '../cluster/api-versions.ts';
import type { PodView } from '../cluster/fleet/view.ts';
import { acting } from '../cluster/live.ts';
import { waitForApi } from '../engine/combinators.ts';
import { ABOUT_MS } from '../engine/restarts.ts';
import type { Step } from '../engine/step.ts';
import { kubeadmAddons } from '../kubeadm/upgrade-job.ts';
import { minorFacts, minorOf, versionIn } from '../versions.ts';
import type { Hop } from './hop.ts';
import { isOlder } from './versions.ts';

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
