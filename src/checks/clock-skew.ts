import { FactError } from '../errors.ts';
import type { Fleet } from '../facts/fleet.ts';
import type { Check, Finding } from './check.ts';
import { unknown } from './run-checks.ts';

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
        message: `its clock is ${seconds(offsetMs - middle)} ${offsetMs > middle ? 'ahead of' : 'behind'} the other hosts (limit 30 s)`,
        remedy: getsChrony
          ? 'have chrony installed first: kbuild up --phase prepare --ignore-check clock-skew'
          : 'run a time service, e.g. chrony (timeSync: chrony in the inventory)',
      })),
    ];
  },
};

export const operatorClock: Check = {
  name: 'operator-clock',
  title: 'the clock of the machine that runs kbuild agrees with the hosts',
  why: 'kbuild makes no certificate with its own clock, so nothing breaks; times in its logs are wrong, and kubectl may find the certificates of a new cluster not yet valid.',
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
