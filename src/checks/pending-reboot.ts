import { eachHost } from './each-host.ts';

export const pendingReboot = eachHost(
  {
    name: 'pending-reboot',
    title: 'no package asks for a reboot',
    why: 'A kernel that was updated but does not run yet may miss its modules. Reboot before the host joins: afterwards that takes a drain.',
    severities: ['warning'],
  },
  ({ facts }) =>
    facts.pendingReboot === 'none'
      ? []
      : [
          {
            severity: 'warning',
            message: `wants a reboot${facts.pendingReboot.length === 0 ? '' : ` (${facts.pendingReboot.join(', ')})`}`,
            remedy: 'reboot it now: a node must be drained first',
          },
        ],
);
