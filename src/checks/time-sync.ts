import { CHRONY } from '../components/distributions/chrony.ts';
import { knownDistribution } from '../components/distributions/index.ts';
import { SYSTEMD_TIME, timeServicesOfOperators } from '../facts/time-services.ts';
import { eachHost, type HostFinding, type HostSeen } from './each-host.ts';

/** What stands in the way of chrony on a host whose inventory asks for it, or is still to be done. */
function ofChrony({ facts }: HostSeen): readonly HostFinding[] {
  const distribution = knownDistribution(facts);
  // A system that kbuild does not know is the finding of another check.
  if (distribution === undefined) return [];
  if (distribution.chrony === undefined)
    return [
      {
        severity: 'error',
        message: `timeSync: chrony is not possible: ${facts.osRelease.prettyName} has no packages`,
        remedy: `give it timeSync: unmanaged, and run its own time service: systemctl enable --now ${SYSTEMD_TIME}`,
      },
    ];
  const others = timeServicesOfOperators(facts.timeServices);
  if (others.length > 0)
    return [
      {
        severity: 'error',
        message: `${others.join(', ')} keeps the clock, and timeSync: chrony would take its place`,
        remedy: `switch it off (systemctl disable --now ${others.join(' ')}), or give the host timeSync: unmanaged`,
      },
    ];
  return facts.timeServices.includes(distribution.chrony.unit)
    ? []
    : [{ severity: 'due', message: 'chrony does not run' }];
}

/** How an operator gets a time service on a host that has none. */
function remedyFor({ facts }: HostSeen): string {
  const distribution = knownDistribution(facts);
  const own = `systemctl enable --now ${SYSTEMD_TIME}`;
  if (distribution !== undefined && distribution.chrony === undefined) return own;
  return `timeSync: chrony in the inventory, or ${distribution?.packages?.installHint(CHRONY) ?? 'install chrony'}, or ${own}`;
}

export const timeSync = eachHost(
  {
    name: 'time-sync',
    title: 'a time service runs',
    why: 'Certificates, tokens and leases of etcd need clocks that agree, for years. `timeSync: chrony` in the inventory has `up` install and start chrony; or switch systemd-timesyncd on. kbuild does not put chrony in the place of a time service that an operator has chosen (ntpd, ntpsec, openntpd): the check stops before anything changes.',
    severities: ['due', 'error', 'warning'],
  },
  (seen) => {
    if (seen.host.timeSync !== undefined) return ofChrony(seen);
    return seen.facts.timeServices.length > 0
      ? []
      : [{ severity: 'warning', message: 'runs no time service', remedy: remedyFor(seen) }];
  },
);
