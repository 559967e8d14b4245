import type { Step } from '../engine/step.ts';

/** The cloud has finished with the host: until then it installs packages, writes /etc/hosts and may restart it. */
export const cloudInitEnded: Step = {
  name: 'cloud-init-ended',
  settleMs: 20 * 60_000,
  diff: ({ facts }) =>
    facts.cloudInit === 'running' ? [{ summary: 'wait for cloud-init, which still sets the host up' }] : [],
};
