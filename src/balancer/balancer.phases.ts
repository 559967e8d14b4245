import type { Step } from '../engine/step.ts';
import { packages } from '../host/packages/packages.step.ts';
import { haproxy } from './haproxy.step.ts';
import { keepalived } from './keepalived.step.ts';
import { allInTurn } from './servers.step.ts';
import { formerBalancer, noBalancerFiles } from './take-down.step.ts';

/** Installs HAProxy of the distribution, and keepalived where there is a virtual address. */
export const balancerPackages = packages('balancer-packages', ({ inventory: { loadBalancer } }) =>
  loadBalancer.kind === 'local' ? { haproxy: 'any' } : { haproxy: 'any', keepalived: 'any' },
);

/** Configures HAProxy, then keepalived: keepalived moves the virtual address to a host whose HAProxy answers. */
export const balancerSteps: readonly Step[] = [...haproxy, ...keepalived, allInTurn];

/** Stops a load balancer on a host that is no longer one, and removes its files. */
export const formerBalancerSteps: readonly Step[] = [formerBalancer, noBalancerFiles];

/** Waits until the API answers at the endpoint with the cluster's own certificate. */
export const endpointServes: Step<'cluster'> = {
  name: 'endpoint-serves',
  settleMs: 60_000,
  diff: ({ inventory, facts }) => {
    const wait = `wait until ${inventory.endpoint} serves the API`;
    if (facts.state === 'absent') return [{ summary: wait }];
    if (facts.state === 'down') return [{ summary: `${wait} (${facts.reason})` }];
    return facts.endpoint === 'ok' ? [] : [{ summary: `${wait} (found: ${facts.endpoint})` }];
  },
};
