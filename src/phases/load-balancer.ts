import type { Phase } from '../engine/step.ts';
import type { Inventory } from '../model/inventory.ts';
import { balancers, kubernetesHosts, withRole } from '../topology/select.ts';
import { jobEnded } from '../node/running-work.ts';
import { balancerTools } from '../lb/turn.ts';
import { balancerPackages, balancerSteps, formerBalancerSteps } from '../lb/steps.ts';
import { prepareBalancer } from '../node/prepare.ts';

/**
 * Builds the load balancers. They run before the control planes, because `kubeadm init` connects to the endpoint. Their
 * configuration changes on one host at a time, without an interruption.
 */
export function loadBalancerPhases(inventory: Inventory): readonly Phase[] {
  const linux = { kind: 'linux' } as const;
  const all = balancers(inventory);
  const others = kubernetesHosts(inventory).filter(({ name }) => !all.some((balancer) => balancer.name === name));
  const phases: readonly Phase[] = [
    {
      name: 'prepare-balancers',
      title: 'Prepare load balancers',
      ...linux,
      hosts: withRole(inventory, 'load-balancer'),
      steps: [jobEnded, ...prepareBalancer],
      overlaps: true,
    },
    {
      name: 'balancer-packages',
      title: 'Install load balancers',
      ...linux,
      hosts: all,
      steps: [balancerPackages, balancerTools],
      overlaps: true,
    },
    {
      name: 'load-balancer',
      title: 'Configure load balancers',
      ...linux,
      hosts: all,
      steps: balancerSteps,
      concurrency: 1,
      overlaps: true,
    },
    {
      name: 'former-balancers',
      title: 'Stop former load balancers',
      ...linux,
      hosts: others,
      steps: formerBalancerSteps,
      // Old and new load balancers may overlap: both forward to the API.
      ...(all.length > 0 ? {} : { overlaps: true }),
    },
  ];
  return phases.filter(({ hosts }) => hosts.length > 0);
}
