import type { Fleet } from '../cluster/fleet/fleet.ts';
import {
  type Check,
  type CheckGroup,
  eachHost,
  type Finding,
  type HostFinding,
  type HostSeen,
  unknown,
} from '../engine/check.ts';
import { FactError } from '../errors.ts';
import { CHRONY } from './packages/chrony.value.ts';
import { knownDistribution } from './packages/distributions.value.ts';
import { SYSTEMD_TIME, timeServicesOfOperators } from './time.step.ts';

const LIMIT_MS = 30_000;

interface Clock {
  readonly host: string;
  readonly offsetMs: number;
  /** The inventory asks for chrony, which sets the clock once `up` has installed it. */
  readonly getsChrony: boolean;
}

const seconds = (ms: number): string => `${String(Math.round(Math.abs(ms) / 100) / 10)} s`;

/** Clocks relative to this machine's, and those that could not be read. */
function clocks(fleet: Fleet): { readonly read: readonly Clock[]; readonly unread: readonly Finding[] } {
  const read: Clock[] = [];
  const unread: Finding[] = [];
  for (const { host, facts } of fleet.hosts) {
    try {
      read.push({
        host: host.name,
        offsetMs: facts.clockOffsetMs,
        getsChrony: host.os === 'linux' && host.timeSync !== undefined,
      });
    } catch (error) {
      if (!(error instanceof FactError)) throw error;
      unread.push(unknown(error));
    }
  }
  return { read, unread };
}

/** The lower of the two middle values, so that it is the time of a host. */
function median(all: readonly Clock[]): number {
  const sorted = all.map(({ offsetMs }) => offsetMs).toSorted((a, b) => a - b);
  return sorted[Math.floor((sorted.length - 1) / 2)] ?? 0;
}

export const clockSkew: Check = {
  name: 'clock-skew',
  title: 'no clock is more than 30 s from the median of all hosts',
  why: 'Certificates are "not yet valid", tokens are refused and leases end early. Run a time service on every host.',
  severities: ['error'],
  test: ({ fleet }) => {
    const { read, unread } = clocks(fleet);
    const middle = median(read);
    const wrong = read.filter(({ offsetMs }) => Math.abs(offsetMs - middle) > LIMIT_MS);
    return [
      ...unread,
      ...wrong.map(({ host, offsetMs, getsChrony }) => ({
        severity: 'error' as const,
        host,
        message:
          `its clock is ${seconds(offsetMs - middle)} ${offsetMs > middle ? 'ahead of' : 'behind'} the other ` +
          'hosts (limit 30 s)',
        remedy: getsChrony
          ? 'have chrony installed first: kbuild up --phase prepare --ignore-check clock-skew'
          : 'run a time service, e.g. chrony (timeSync: chrony in the inventory)',
      })),
    ];
  },
};

const operatorClock: Check = {
  name: 'operator-clock',
  title: 'the clock of the machine that runs kbuild agrees with the hosts',
  why:
    'kbuild makes no certificate with its own clock, so nothing breaks; times in its logs are wrong, and kubectl ' +
    'may find the certificates of a new cluster not yet valid.',
  severities: ['warning'],
  test: ({ fleet }) => {
    const middle = median(clocks(fleet).read);
    return Math.abs(middle) <= LIMIT_MS
      ? []
      : [
          {
            severity: 'warning',
            message: `the clock of this machine is ${seconds(middle)} ${middle > 0 ? 'behind' : 'ahead of'} the hosts'`,
            remedy: 'run a time service on this machine',
          },
        ];
  },
};

/** Why chrony cannot run yet on a host whose inventory asks for it. */
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
  return (
    `timeSync: chrony in the inventory, or ${distribution?.packages?.installHint(CHRONY) ?? 'install chrony'}, ` +
    `or ${own}`
  );
}

const timeSync = eachHost(
  {
    name: 'time-sync',
    title: 'a time service runs',
    why:
      'Certificates, tokens and leases of etcd need clocks that agree, for years. `timeSync: chrony` in the ' +
      'inventory has `up` install and start chrony; or switch systemd-timesyncd on. kbuild does not put chrony ' +
      'in the place of a time service that an operator has chosen (ntpd, ntpsec, openntpd): the check stops ' +
      'before anything changes.',
    severities: ['due', 'error', 'warning'],
  },
  (seen) => {
    if (seen.host.timeSync !== undefined) return ofChrony(seen);
    return seen.facts.timeServices.length > 0
      ? []
      : [{ severity: 'warning', message: 'runs no time service', remedy: remedyFor(seen) }];
  },
);

export const timeChecks: CheckGroup = { host: [timeSync], fleet: [clockSkew, operatorClock] };
