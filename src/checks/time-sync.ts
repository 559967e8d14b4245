import { knownDistribution } from '../components/distributions/index.ts';
import { eachHost } from './each-host.ts';

export const timeSync = eachHost(
  {
    name: 'time-sync',
    title: 'a time service runs',
    why: 'Certificates, tokens and leases of etcd need clocks that agree, for years. Install chrony, or switch systemd-timesyncd on.',
    severities: ['warning'],
  },
  ({ facts }) =>
    facts.timeServices.length > 0
      ? []
      : [
          {
            severity: 'warning',
            message: 'runs no time service',
            remedy: `${knownDistribution(facts)?.packages?.installHint('chrony') ?? 'install chrony'}, or systemctl enable --now systemd-timesyncd`,
          },
        ],
);
