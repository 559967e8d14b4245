import type { Answer } from '../script.ts';

/** The kubelet's and what a test lets listen: `extra.listeners`. */
export const answer: Answer = (machine, { Tcp }) => ({
  listeners: [
    ...(machine.services.get('kubelet')?.state === 'Running' && (Tcp as readonly number[]).includes(10250)
      ? [{ protocol: 'tcp', port: 10250, program: 'kubelet' }]
      : []),
    ...((machine.extra.get('listeners') ?? []) as readonly object[]),
  ],
});
