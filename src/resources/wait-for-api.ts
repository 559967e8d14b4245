import type { Change } from '../engine/step.ts';
import type { ClusterView } from '../facts/cluster.ts';

/**
 * The wait for a cluster that does not answer: what is live cannot be compared, which does not mean that nothing differs.
 */
export const waitForApi = ({ reason }: Extract<ClusterView, { readonly state: 'down' }>): readonly Change[] => [
  { summary: `wait for the API server to answer (${reason})` },
];
