import type { Step } from '../engine/step.ts';

/** Waits for the job that an earlier run started on the host: it would change the host at the same time as this run. */
export const jobEnded: Step & Step<'windows'> = {
  name: 'job-ended',
  settleMs: 30 * 60_000,
  diff: ({ facts }: { readonly facts: { readonly runningJob: string } }) =>
    facts.runningJob === 'none' ? [] : [{ summary: `wait for ${facts.runningJob}, which another run started` }],
};

/** Waits for cloud-init, which may still install packages, write /etc/hosts and restart the host. */
export const cloudInitEnded: Step = {
  name: 'cloud-init-ended',
  settleMs: 20 * 60_000,
  diff: ({ facts }) =>
    facts.cloudInit === 'running' ? [{ summary: 'wait for cloud-init, which still sets the host up' }] : [],
};
