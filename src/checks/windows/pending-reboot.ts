import { eachWindowsHost } from '../each-host.ts';

export const windowsPendingReboot = eachWindowsHost(
  {
    name: 'windows-pending-reboot',
    title: 'no restart of Windows is pending',
    why: 'Updates that are half installed make features and services behave oddly. Restart the host; kbuild does it itself only where a feature needs it, and never on a host that has joined.',
    severities: ['warning'],
  },
  ({ facts }) =>
    facts.pendingReboot.length === 0
      ? []
      : [
          {
            severity: 'warning',
            message: `waits for a restart (${facts.pendingReboot.join(', ')})`,
            remedy: 'Restart-Computer',
          },
        ],
);
