import { supportedDistribution } from '../components/distributions/index.ts';
import { containerRuntime } from '../components/runtimes/index.ts';
import type { LinuxFacts } from '../facts/linux.ts';
import type { Inventory } from '../model/inventory.ts';
import { daysLeft } from '../shell/expiry.ts';
import { minorOf } from '../versions.ts';
import { eachHost, type HostFinding } from './each-host.ts';

/** Days before the end at which it is a warning: enough to plan the exchange of hosts. */
const WARN_AT_DAYS = 90;
const DAY_MS = 86_400_000;

/** What is said of the end of something, from WARN_AT_DAYS before it on. `last`: its last day; undefined if none is known. */
function ending(what: string, last: string | undefined, nowMs: number): string | undefined {
  if (last === undefined) return undefined;
  // The last day counts.
  const days = daysLeft(Date.parse(last) + DAY_MS, nowMs);
  if (days > WARN_AT_DAYS) return undefined;
  return days < 0
    ? `${what} has had no security updates since ${last}`
    : `security updates for ${what} end on ${last}, in ${String(days)} days`;
}

function system({ osRelease, nowMs }: Pick<LinuxFacts, 'osRelease' | 'nowMs'>): readonly HostFinding[] {
  const { name, ends } = supportedDistribution({ osRelease }) ?? {};
  const [version, last] =
    Object.entries(ends ?? {}).find(
      ([version]) => osRelease.versionId === version || osRelease.versionId.startsWith(`${version}.`),
    ) ?? [];
  const message = ending(`${name ?? ''} ${version ?? ''}`, last, nowMs);
  if (message === undefined) return [];
  const remedy = 'add a host with a newer version of the system, then remove this one: kbuild remove';
  return [{ severity: 'warning', message, remedy }];
}

/** Of the version that the inventory asks for; a system that brings its runtime takes care of it. */
function runtime(inventory: Inventory, facts: LinuxFacts): readonly HostFinding[] {
  const { name, title, ends, version } = containerRuntime(inventory);
  if (supportedDistribution(facts)?.builtIn?.includes(name) === true) return [];
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
    title: 'the system and the container runtime get security updates for 90 days more',
    why: 'A node shares its kernel and its container runtime with every pod on it, and a hole that nobody mends stays open. [Hosts](hosts.md) lists the days of systems; where their makers support a version longer for everybody, it is that day. Of versions without a published day kbuild knows none. The day is compared with the clock of the host.',
    severities: ['warning'],
  },
  ({ inventory, facts }) => [...system(facts), ...runtime(inventory, facts)],
);
