import type { Change } from '../engine/step.ts';
import type { ClusterView } from '../facts/cluster.ts';

/** The wait for a cluster that does not answer: its live settings cannot be compared, and may differ. */
export const waitForApi = ({ reason }: Extract<ClusterView, { readonly state: 'down' }>): Change => ({
  summary: `wait for the API server to answer (${reason})`,
});
