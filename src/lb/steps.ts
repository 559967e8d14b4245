import type { Step } from '../engine/step.ts';
import { haproxy } from './haproxy.ts';
import { keepalived } from './keepalived.ts';
import { noBalancerFiles, noLoadBalancer } from './removed.ts';

/** Configure HAProxy, then keepalived: keepalived moves the virtual address to a host whose HAProxy answers. */
export const balancerSteps: readonly Step[] = [...haproxy, ...keepalived];

/** Stop a load balancer on a host that is no longer one, and delete its files. */
export const formerBalancerSteps: readonly Step[] = [noLoadBalancer, noBalancerFiles];
