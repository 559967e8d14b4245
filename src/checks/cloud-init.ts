import { eachHost } from './each-host.ts';

/** The machine is completely set up by its cloud. */
export const cloudInit = eachHost(
  {
    name: 'cloud-init',
    title: 'cloud-init has ended',
    why: 'While it runs it installs packages, writes /etc/hosts and may reboot. Wait for `cloud-init status --wait`.',
    severities: ['error', 'warning'],
  },
  ({ facts }) => {
    if (facts.cloudInit === 'running')
      return [{ severity: 'error', message: 'cloud-init still runs', remedy: 'wait until: cloud-init status --wait' }];
    if (facts.cloudInit === 'failed')
      return [
        { severity: 'warning', message: 'cloud-init ended with errors', remedy: 'see: cloud-init status --long' },
      ];
    return [];
  },
);
