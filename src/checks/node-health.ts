import { nodeProblems } from '../cluster/health.ts';
import type { Check } from './check.ts';

export const nodeHealth: Check = {
  name: 'node-health',
  title: 'every node of the cluster is Ready, without pressure, cordon or unexpected taint',
  why: 'A node under disk, memory or PID pressure, without network, cordoned, or with a taint that neither the inventory nor Kubernetes explains takes no new pods: where all are, nothing can be scheduled on the cluster, and its objects look right all the same. `kbuild status` says the same with exit 5.',
  severities: ['warning'],
  test: ({ inventory, fleet: { cluster } }) =>
    cluster.state !== 'up'
      ? []
      : cluster.nodes
          .flatMap((node) => nodeProblems(inventory, node))
          .map(({ name, message, remedy }) => ({
            severity: 'warning' as const,
            host: name,
            message,
            ...(remedy === undefined ? {} : { remedy }),
          })),
};
