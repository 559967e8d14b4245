import type { Change, Step, Target } from '../engine/step.ts';
import { removePrograms } from '../host/packages/binaries.value.ts';
import { distributionOf, everyRepositoryFiles } from '../host/packages/distributions.value.ts';
import type { Inventory } from '../inventory/inventory.ts';
import type { Command } from '../shell/command.ts';
import { script, using } from '../templates.ts';
import { pendingMove } from './change.step.ts';
import { runtimeMove } from './runtime-change.ts';
import { CONTAINER_RUNTIMES, containerRuntime, type ContainerRuntime } from './runtimes.value.ts';
import { settingsTakenOut } from './settings-file.step.ts';

/** Names of the packages of a runtime, and of the packages that are installed with them. */
const packagesOf = ({ defaults, otherPackages, companions }: ContainerRuntime): readonly string[] => {
  const names = [defaults.package, ...otherPackages];
  return [...new Set(names.flatMap((name) => [name, ...Object.keys(companions?.(name, 'any') ?? {})]))];
};

/** The packages and units that the host's current runtime needs: kbuild keeps them. */
const neededBy = (inventory: Inventory) => {
  const wanted = containerRuntime(inventory);
  const { package: name, version } = inventory.runtime;
  return {
    packages: new Set([name, ...packagesOf(wanted), ...Object.keys(wanted.companions?.(name, version) ?? {})]),
    units: new Set([wanted.unit, wanted.needs]),
  };
};

/** The containers of other programs on a runtime, as text for messages; empty if there are none. */
const usersOf = (runtime: ContainerRuntime, { facts }: Target): string =>
  [...(facts.otherContainers.get(runtime.name)?.keys() ?? [])]
    .map(runtime.ownerOf)
    .filter((owner) => owner !== undefined)
    .map((owner) => ` containers of ${owner}`)
    .join(',');

/**
 * The command that retires a runtime that Kubernetes no longer uses: its programs first, then its units, its files, and
 * its configuration.
 */
function ending(target: Target, runtime: ContainerRuntime, files: readonly string[]): Command<'sh'> {
  const { inventory, facts } = target;
  const { paths, unit, startedBy = [], needs, socket, registriesFolder, programs = [] } = runtime;
  const repositories = everyRepositoryFiles(runtime.name).flatMap(({ source, keyring }) => [source, keyring]);
  const kept = neededBy(inventory).units;
  const groups = [[unit, ...startedBy], ...(needs === undefined || kept.has(needs) ? [] : [[needs]])];
  const retired = script('runtime/retire-runtime.sh', {
    UNITS: groups.map((group) => group.join(' ')),
    IN_USE: usersOf(runtime, target),
    FILES: [...files, ...repositories.filter((path) => facts.ownFiles.includes(path))],
    CONFIG: paths.config,
    BACKUP: paths.backup ?? '',
    REGISTRIES: registriesFolder.path,
    REGISTRIES_USE: registriesFolder.use,
  });
  const asItsOwn = { ...inventory, runtime: { ...inventory.runtime, name: runtime.name } };
  const names = programs.map(({ name }) => name);
  return using(
    'runtime/serving-runtime.sh',
    using(
      script('runtime/runtime-left.sh', { SOCKET: socket }),
      using(
        `runtime/${runtime.name}.sh`,
        names.length === 0 ? retired : using(removePrograms(asItsOwn, names), retired),
      ),
    ),
  );
}

/**
 * Takes one runtime out of use. Removes kbuild's configuration last, because the next run recognizes an unfinished
 * retirement by it.
 */
function retirement(target: Target, runtime: ContainerRuntime, files: readonly string[]): readonly Change[] {
  const { inventory, host, facts } = target;
  const { paths, unit, title } = runtime;
  const settings = facts.formerSettings.get(runtime.name);
  const needed = neededBy(inventory).packages;
  const held = packagesOf(runtime).filter((name) => facts.packages.get(name)?.held === true && !needed.has(name));
  return [
    ...(settings === undefined ? [] : settingsTakenOut(target, runtime, settings, () => settings.mode ?? 0o644)),
    {
      summary: `take ${title} out of use: disable ${unit}, and remove what kbuild wrote for it (found ${paths.config})`,
      apply: async (on) => {
        const release = held.length === 0 ? undefined : distributionOf(host, facts).packages?.release(held);
        if (release !== undefined) await on(host).run(release);
        await on(host).run(ending(target, runtime, files));
      },
    },
  ];
}

/**
 * Stops the runtimes that Kubernetes no longer uses on a host, and removes the files that kbuild wrote for them. Keeps
 * packages, which it unholds, images and other data. While the host's change of runtime is pending, the plan shows this
 * step after it. Keeps a runtime through which the current one starts containers.
 */
export const runtimeRetired: Step = {
  name: 'runtime-retired',
  watches: { packages: CONTAINER_RUNTIMES.flatMap(packagesOf) },
  diff: (target) => {
    const { inventory, host, facts } = target;
    const isStuck = runtimeMove(inventory, host, facts) !== undefined && pendingMove(target) === undefined;
    if (isStuck) return [];
    return CONTAINER_RUNTIMES.flatMap((runtime) => {
      const files = facts.formerRuntimes.get(runtime.name);
      const isNeeded = containerRuntime(inventory).needs === runtime.unit;
      return files === undefined || isNeeded ? [] : retirement(target, runtime, files);
    });
  },
};
