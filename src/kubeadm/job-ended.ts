import type { Step } from '../engine/step.ts';

/** Nothing of an earlier run is at work on the host: what it is doing would change under our hands. */
export const jobEnded: Step & Step<'windows'> = {
  name: 'job-ended',
  settleMs: 30 * 60_000,
  diff: ({ facts }: { readonly facts: { readonly runningJob: string } }) =>
    facts.runningJob === 'none' ? [] : [{ summary: `wait for ${facts.runningJob}, which another run started` }],
};
