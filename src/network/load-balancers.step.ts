import type { ClusterUp, PodView } from '../cluster/fleet/view.ts';
import { waitForApi } from '../engine/combinators.ts';
import { manifest, type Manifest } from '../engine/objects.ts';
import type { Step } from '../engine/step.ts';
import type { Inventory } from '../inventory/inventory.ts';
import type { ServiceBalancers } from '../inventory/network-plugins.ts';
import { kubeVipServices } from './kube-vip-services.step.ts';
import { balancerTitles, METALLB_NAMESPACE, metallbObjects, poolObjects } from './load-balancers.value.ts';

const sourcesOf = ({ manifests }: ServiceBalancers): string =>
  manifests.map(({ source }) => source.split('/').at(-1)!).join(', ');

/** The programs that answer for addresses of Services; undefined if there are none, or the network plugin does it. */
export function balancerManifest(inventory: Inventory): Manifest | undefined {
  const { loadBalancers } = inventory.network;
  if (loadBalancers?.kind === 'metallb')
    return { title: `MetalLB (${sourcesOf(loadBalancers)})`, objects: metallbObjects(inventory), compare: 'hash' };
  if (loadBalancers?.kind !== 'kube-vip') return undefined;
  const objects = kubeVipServices(inventory, loadBalancers);
  return { title: `${balancerTitles['kube-vip']} (${loadBalancers.image})`, objects, compare: 'hash' };
}

/** The addresses; undefined if there are none, or they are part of the programs' own configuration. */
export function poolManifest(inventory: Inventory): Manifest | undefined {
  const objects = poolObjects(inventory);
  const names = Object.keys(inventory.network.loadBalancers?.pools ?? {}).join(', ');
  return objects.length === 0 ? undefined : { title: `addresses for Services (${names})`, objects, compare: 'hash' };
}

/** The pods without which no pool is accepted, or no address is answered for. */
function isOfBalancer({ kind }: ServiceBalancers, { namespace, labels }: PodView): boolean {
  if (kind === 'metallb') return namespace === METALLB_NAMESPACE && labels['app'] === 'metallb';
  return /^kube-vip-(?:services|cloud-provider)$/.test(labels['component'] ?? labels['app'] ?? '');
}

const notReady = ({ name, trouble }: PodView): string => `${name} not ready${trouble === '' ? '' : `: ${trouble}`}`;

/** What is not there yet of who answers for addresses; empty if all is. */
function missing(settings: ServiceBalancers, { nodes, pods }: ClusterUp): string {
  // Those of a dead node are not ready for as long as it is dead: another node has its addresses.
  const down = new Set(nodes.filter(({ ready }) => !ready).map(({ name }) => name));
  const own = pods.filter((pod) => isOfBalancer(settings, pod) && !down.has(pod.node));
  // One hands out the addresses, another one answers for them.
  if (new Set(own.map(({ labels }) => labels['component'] ?? labels['app'])).size < 2) return 'not all pods';
  return own
    .filter(({ ready }) => !ready)
    .slice(0, 3)
    .map(notReady)
    .join('; ');
}

/** Waits for the pods of who answers for addresses of Services: MetalLB's webhook accepts no pool before. */
const balancersReady: Step<'cluster'> = {
  name: 'load-balancers-ready',
  settleMs: 5 * 60_000,
  diff: ({ inventory, facts }) => {
    const { loadBalancers } = inventory.network;
    if (loadBalancers === undefined || balancerManifest(inventory) === undefined) return [];
    const title = balancerTitles[loadBalancers.kind];
    if (facts.state === 'down') return [waitForApi(facts)];
    if (facts.state === 'absent') return [{ summary: `wait until ${title} works` }];
    const found = missing(loadBalancers, facts);
    return found === '' ? [] : [{ summary: `wait until ${title} works (found ${found})` }];
  },
};

/** Gives Services of type LoadBalancer their addresses. */
export const loadBalancerSteps: readonly Step<'cluster'>[] = [
  manifest('load-balancers', balancerManifest),
  balancersReady,
  manifest('load-balancer-pools', poolManifest),
];
