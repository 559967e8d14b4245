import type { Phase } from '../engine/step.ts';
import type { Inventory } from '../model/inventory.ts';
import { balancers, kubernetesHosts, withRole } from '../topology/select.ts';
import { jobEnded } from '../kubeadm/job-ended.ts';
import { haproxy } from '../lb/haproxy.ts';
import { keepalived } from '../lb/keepalived.ts';
import { balancerPackages } from '../lb/packages.ts';
import { noBalancerFiles, noLoadBalancer } from '../lb/removed.ts';
import { prepareBalancer } from '../node/prepare.ts';

/**
 * The load balancer that kbuild builds, before there is anything behind it: kubeadm's init talks to the endpoint. Its
 * configuration is changed on one balancer at a time, without an interruption.
 */
export function loadBalancerPhases(inventory: Inventory): readonly Phase[] {
  const linux = { kind: 'linux' } as const;
  const all = balancers(inventory);
  const others = kubernetesHosts(inventory).filter(({ name }) => !all.some((one) => one.name === name));
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
      steps: [balancerPackages],
      overlaps: true,
    },
    {
      name: 'load-balancer',
      title: 'Configure load balancers',
      ...linux,
      hosts: all,
      steps: [...haproxy, ...keepalived],
      concurrency: 1,
      overlaps: true,
    },
    {
      name: 'former-balancers',
      title: 'Stop former load balancers',
      ...linux,
      hosts: others,
      steps: [noLoadBalancer, noBalancerFiles],
      // The address is on both for a moment, and both lead to the API: better than on none.
      ...(all.length > 0 ? {} : { overlaps: true }),
    },
  ];
  return phases.filter(({ hosts }) => hosts.length > 0);
}
