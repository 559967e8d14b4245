import { packages } from '../resources/packages.ts';

/** haproxy and keepalived of the distribution. */
export const balancerPackages = packages('balancer-packages', () => ({ haproxy: 'any', keepalived: 'any' }));
