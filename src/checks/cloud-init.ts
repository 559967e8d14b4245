import { eachHost } from './each-host.ts';

export const cloudInit = eachHost(
  {
    name: 'cloud-init',
    title: 'cloud-init has ended',
    why: 'While it runs it installs packages, writes /etc/hosts and may reboot. `up` waits for its end.',
    severities: ['due', 'warning'],
  },
  ({ facts }) => {
    if (facts.cloudInit === 'running') return [{ severity: 'due', message: 'cloud-init still runs' }];
    if (facts.cloudInit === 'failed')
      return [
        { severity: 'warning', message: 'cloud-init ended with errors', remedy: 'see: cloud-init status --long' },
      ];
    return [];
  },
);
