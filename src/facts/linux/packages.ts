import { onHost } from '../../components/distributions/on-host.ts';
import type { PackageState } from '../../components/distributions/package-manager.ts';
import { onceForEach } from '../../shell/once-for-each.ts';
import { probe } from '../../shell/probe.ts';
import { watchedMap } from '../watched.ts';

/** Installed packages of the given names; a name that is not in the map is not installed. */
export const packages = onceForEach((names: readonly string[]) => {
  const { command, parse } = onHost(({ packages }) => packages.installed(names), new Map<string, PackageState>());
  return probe(command, (out, asked): ReadonlyMap<string, PackageState> => watchedMap(names, parse(out, asked)));
});
