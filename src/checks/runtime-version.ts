import { isBuiltIn, systemRuntime } from '../components/programs/installer.ts';
import { CONTAINER_RUNTIMES, containerRuntime } from '../components/runtimes/index.ts';
import { versionIn } from '../versions.ts';
import { eachHost } from './each-host.ts';

/** Packages that bring some runtime, on whatever system. */
export const RUNTIME_PACKAGES: readonly string[] = CONTAINER_RUNTIMES.flatMap(({ otherPackages }) => otherPackages);

export const runtimeVersion = eachHost(
  {
    name: 'runtime-version',
    title: "the container runtime that comes from the host's own system fits Kubernetes",
    why: "Some systems bring the container runtime, or pack it themselves, in a version that kbuild does not choose; a version that the inventory names is installed only if their repositories have it. With which Kubernetes a version works, the runtime's own support matrix says. `installFrom: binaries` takes the version of the inventory instead, and another runtime (`runtime.name`) comes from its project's repository.",
    severities: ['error', 'warning'],
    watches: { packages: RUNTIME_PACKAGES },
  },
  ({ inventory, host, facts }) => {
    const { name } = inventory.runtime;
    if (host.role === 'load-balancer') return [];
    if (!isBuiltIn({ facts }, [name]) && systemRuntime({ host, facts }, [name]) === undefined) return [];
    const { otherPackages, misfit } = containerRuntime(inventory);
    const version = otherPackages
      .map((one) => versionIn(facts.packages.get(one)?.version))
      .find((one) => one !== undefined);
    const found = version === undefined ? undefined : misfit(inventory.kubernetes.minor, version);
    return found === undefined
      ? []
      : [{ ...found, remedy: 'give the host installFrom: binaries, or another runtime.name' }];
  },
);
