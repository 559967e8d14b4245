import { hasKubelet } from '../facts/joined.ts';
import { isSwitchedOn } from '../facts/linux/services.ts';
import { eachHost } from './each-host.ts';

/** The service of NetworkManager that asks a cloud for addresses, and the timer that starts it. */
const UNITS = ['nm-cloud-setup', 'nm-cloud-setup.timer'];

export const cloudRoutes = eachHost(
  {
    name: 'cloud-routes',
    title: 'no nm-cloud-setup writes routes of its own',
    why: 'Images for clouds may have it switched on. It writes rules that send the answers of pods out by the wrong interface ([rke2#1053](https://github.com/rancher/rke2/issues/1053)). On a host that has joined it is a warning. The rules stay until the host reboots.',
    severities: ['error', 'warning'],
    watches: { units: UNITS },
  },
  ({ facts }) => {
    const on = UNITS.filter((unit) => isSwitchedOn(facts.services.get(unit)));
    if (on.length === 0) return [];
    return [
      {
        severity: hasKubelet(facts) ? 'warning' : 'error',
        message: `${on.join(' and ')} ${on.length === 1 ? 'writes' : 'write'} routes that break the network of pods`,
        remedy: 'systemctl disable --now nm-cloud-setup.service nm-cloud-setup.timer, then reboot',
      },
    ];
  },
);
