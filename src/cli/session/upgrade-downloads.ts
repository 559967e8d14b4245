import type { Finding } from '../../checks/check.ts';
import { downloadFindings } from '../../checks/downloads.ts';
import { getsBinaries } from '../../components/programs/installer.ts';
import { observedLinux, type Fleet, type Kinds } from '../../facts/fleet.ts';
import type { Inventory } from '../../model/inventory.ts';
import { breaking, unknown, warning } from '../../report/upgrade-lines.ts';
import { downloads, type Wanted } from '../../surveys/downloads.ts';
import { atVersion } from '../../topology/at-version.ts';
import { linuxHosts } from '../../topology/select.ts';
import type { Hop } from '../../upgrade/hop.ts';
import type { Run } from './run.ts';
import { wantedDownloads } from './wanted-downloads.ts';

type Seen = Kinds['linux'];

/** Hosts of one kind download the same. */
function kindOf(seen: Seen): string {
  const { host, facts } = seen;
  const registries = host.runtime?.registries.map((one) => [one.host, one.mirrors]);
  const { prettyName } = facts.osRelease;
  return JSON.stringify([host.role, prettyName, facts.arch, getsBinaries(seen), host.runtime?.name, registries]);
}

/** What the hops download to one host, once. */
function ofHops(inventory: Inventory, hops: readonly Hop[], { host, facts }: Seen): readonly Wanted[] {
  const all = hops.flatMap(({ version }) => {
    const moved = atVersion(inventory, version);
    const there = linuxHosts(moved).find(({ name }) => name === host.name);
    return there === undefined ? [] : wantedDownloads(moved, { host: there, facts });
  });
  const key = ({ kind, urls, word }: Wanted): string => JSON.stringify([kind, urls, word]);
  return [...new Map(all.map((one) => [key(one), one])).values()];
}

/** What an upgrade downloads, as one host of each kind needs it. `names`: the hosts that it downloads to. */
export function upgradeDownloads(
  inventory: Inventory,
  fleet: Fleet,
  hops: readonly Hop[],
  names: ReadonlySet<string>,
): readonly (Seen & { readonly wanted: readonly Wanted[] })[] {
  const kinds = new Map<string, Seen>();
  for (const seen of observedLinux(fleet).filter(({ host }) => names.has(host.name))) {
    const kind = kindOf(seen);
    if (!kinds.has(kind)) kinds.set(kind, seen);
  }
  return [...kinds.values()].map((seen) => ({ ...seen, wanted: ofHops(inventory, hops, seen) }));
}

/** A finding about a download as a plan prints it. */
function line({ severity, host = '', message, remedy }: Finding): string {
  const text = `${host}: ${message}`;
  if (severity === 'error') return breaking(text, remedy ?? '');
  return severity === 'unknown' || remedy === undefined ? unknown(text) : warning([message], text, remedy).join('');
}

/** What hosts cannot download of the hops, as text of a plan; empty where all is there. Installs and pulls nothing. */
export async function missingDownloads(
  { connected, inventory }: Pick<Run, 'connected' | 'inventory'>,
  hops: readonly Hop[],
  names: ReadonlySet<string>,
): Promise<{ readonly text: string; readonly found: readonly string[] }> {
  const fleet = connected.observations.fleet();
  const got = await downloads(connected.on, upgradeDownloads(inventory, fleet, hops, names), inventory.proxy);
  const findings = downloadFindings(got);
  return {
    text: findings.length === 0 ? '' : `Downloads, by one host of each kind\n${findings.map(line).join('')}`,
    found: findings.map(({ host = '', message }) => `${host}: ${message}`),
  };
}
