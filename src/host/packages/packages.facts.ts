import { onceForEach } from '../../shell/memo.ts';
import { probe } from '../../shell/probe.ts';
import { watchedMap } from '../../shell/watched.ts';
import { installedPrograms } from './binaries.value.ts';
import { onHost } from './distributions.value.ts';
import type { PackageState } from './package-manager.value.ts';

/** Stands between what the package manager says, and the programs that kbuild installed without it. */
const PROGRAMS = '--programs';

/**
 * Installed packages of the given names; a name that is not in the map is not installed. Programs that kbuild installed
 * without a package manager count as the package of their name.
 */
export const packages = onceForEach((names: readonly string[]) => {
  const { command, parse } = onHost(
    ({ packages, brought }) => packages?.installed(names) ?? brought?.(names),
    new Map<string, PackageState>(),
  );
  const script = `${command.script}\necho ${PROGRAMS}\n${installedPrograms.command.script}`;
  return probe({ ...command, script }, (out, asked): ReadonlyMap<string, PackageState> => {
    const end = `\n${out}`.lastIndexOf(`\n${PROGRAMS}\n`);
    const manager = end === -1 ? out : out.slice(0, end);
    const programs = end === -1 ? '' : out.slice(end + PROGRAMS.length + 1);
    return watchedMap(names, [...parse(manager, asked), ...installedPrograms.parse(programs, asked)]);
  });
});
