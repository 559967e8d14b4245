import type { Step } from '../engine/step.ts';

/** The API answers at the endpoint, with the cluster's own certificate: what kubelets and users rely on. */
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
