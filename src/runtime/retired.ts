import { runtimeMove } from '../cluster/other-runtime.ts';
import { distributionOf, everyRepositoryFiles } from '../components/distributions/index.ts';
import { CONTAINER_RUNTIMES, containerRuntime, type ContainerRuntime } from '../components/runtimes/index.ts';
import type { Change, Step, Target } from '../engine/step.ts';
import { script, using } from '../templates.ts';
import { pendingMove } from './move.ts';

/** Runtimes that a host may have left: those that are packed by themselves. */
const LEFT = CONTAINER_RUNTIMES.filter(({ keepsHosts }) => keepsHosts === undefined);

/** Names of the packages that bring a runtime. */
const packagesOf = ({ defaults, otherPackages }: ContainerRuntime): readonly string[] => [
  ...new Set([defaults.package, ...otherPackages]),
];

/** What other programs have on a runtime, as messages name it; empty if nothing. */
const usersOf = (runtime: ContainerRuntime, { facts }: Target): string =>
  [...(facts.otherContainers.get(runtime.name)?.keys() ?? [])]
    .map(runtime.ownerOf)
    .filter((owner) => owner !== undefined)
    .map((owner) => ` containers of ${owner}`)
    .join(',');

/** Takes one runtime out of use. What kbuild wrote for it goes last: until then the next run finds it. */
function retirement(target: Target, runtime: ContainerRuntime, files: readonly string[]): Change {
  const { host, facts } = target;
  const { paths, unit, socket, title, registriesFolder } = runtime;
  const repositories = everyRepositoryFiles(runtime.name).flatMap(({ source, keyring }) => [source, keyring]);
  const held = packagesOf(runtime).filter((name) => facts.packages.get(name)?.held === true);
  return {
    summary: `take ${title} out of use: disable ${unit}, and remove what kbuild wrote for it (found ${paths.config})`,
    apply: async (on) => {
      const release = held.length === 0 ? undefined : distributionOf(host, facts).packages?.release(held);
      if (release !== undefined) await on(host).run(release);
      await on(host).run(
        using(
          'linux/serving-runtime.sh',
          script('linux/retire-runtime.sh', {
            UNIT: unit,
            SOCKET: socket,
            IN_USE: usersOf(runtime, target),
            FILES: [...files, ...repositories.filter((path) => facts.ownFiles.includes(path))],
            CONFIG: paths.config,
            BACKUP: paths.backup ?? '',
            REGISTRIES: registriesFolder.use === 'whole' ? registriesFolder.path : '',
          }),
        ),
      );
    },
  };
}

/**
 * Stops the runtimes that Kubernetes has left on a host, and takes back what kbuild wrote for them. Packages stay, no longer held; so
 * do images and other data. While the host's change of runtime is pending, it stands in the plan as what follows that.
 */
export const runtimeRetired: Step = {
  name: 'runtime-retired',
  watches: { packages: LEFT.flatMap(packagesOf) },
  diff: (target) => {
    const { inventory, host, facts } = target;
    const isStuck = runtimeMove(inventory, host, facts) !== undefined && pendingMove(target) === undefined;
    if (isStuck || containerRuntime(inventory).keepsHosts !== undefined) return [];
    return LEFT.flatMap((runtime) => {
      const files = facts.formerRuntimes.get(runtime.name);
      return files === undefined ? [] : [retirement(target, runtime, files)];
    });
  },
};
