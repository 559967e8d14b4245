import { supportedDistribution, versionIn } from '../components/distributions/index.ts';
import { systemRuntime } from '../components/programs/installer.ts';
import { containerRuntime } from '../components/runtimes/index.ts';
import type { LinuxFacts } from '../facts/linux.ts';
import { daysLeft } from '../shell/expiry.ts';
import { minorOf } from '../versions.ts';
import { eachHost, type HostFinding, type HostSeen } from './each-host.ts';

/** Days before the end at which it is a warning: enough to plan the exchange of hosts. */
const WARN_AT_DAYS = 90;

/** The message about the end of something; undefined earlier than WARN_AT_DAYS before it. `last`: its last day, if one is known. */
function ending(what: string, last: string | undefined, nowMs: number): string | undefined {
  if (last === undefined) return undefined;
  // The last day counts.
  const days = daysLeft(Date.parse(last), nowMs) + 1;
  if (days > WARN_AT_DAYS) return undefined;
  return days < 0
    ? `${what} has had no security updates since ${last}`
    : `security updates for ${what} end on ${last}, in ${String(days)} days`;
}

function system(facts: LinuxFacts): readonly HostFinding[] {
  const distribution = supportedDistribution(facts);
  const version = distribution && versionIn(distribution, facts);
  if (distribution === undefined || version === undefined) return [];
  const message = ending(`${distribution.name} ${version}`, distribution.ends?.[version], facts.nowMs);
  if (message === undefined) return [];
  const remedy = 'add a host with a newer version of the system, then remove this one: kbuild remove';
  return [{ severity: 'warning', message, remedy }];
}

/** Of the version that the inventory asks for; a system that brings its runtime, or packs it itself, takes care of it. */
function runtime({ inventory, host, facts }: HostSeen): readonly HostFinding[] {
  const { name, title, ends, version } = containerRuntime(inventory);
  const isOfSystem = systemRuntime({ host, facts }, [name]) !== undefined;
  if (isOfSystem || supportedDistribution(facts)?.builtIn?.includes(name) === true) return [];
  const asked = inventory.runtime.version;
  const message = ending(`${title} ${minorOf(asked)}`, ends[minorOf(asked)], facts.nowMs);
  if (message === undefined) return [];
  const newest = version(minorOf(inventory.kubernetes.version));
  const isNewer = newest !== undefined && minorOf(newest) !== minorOf(asked);
  const remedy = isNewer
    ? `runtime.version: ${newest}`
    : `${title} lists no newer line for Kubernetes ${minorOf(inventory.kubernetes.version)}: upgrade Kubernetes`;
  return [{ severity: 'warning', message, remedy }];
}

export const endOfLife = eachHost(
  {
    name: 'end-of-life',
    title: 'the system and the container runtime get security updates for at least 90 more days',
    why: 'A node shares its kernel and its container runtime with every pod on it, and a hole without an update stays open. [Hosts](hosts.md) lists the last days of systems; for a system with long-term support that is free it is the last day of that. A version without a published day is not checked. The day is compared with the clock of the host.',
    severities: ['warning'],
  },
  (seen) => [...system(seen.facts), ...runtime(seen)],
);
