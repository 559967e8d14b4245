import { hasKubelet } from '../cluster/fleet/joined.ts';
import { type CheckGroup, eachHost, type HostFinding, type HostSeen } from '../engine/check.ts';
import { knownDistribution } from '../host/packages/distributions.value.ts';
import { getsBinaries, isBuiltIn, systemRuntime } from '../host/packages/installer.value.ts';
import { foreignUnits, moveUnit } from '../host/packages/programs.step.ts';
import { goArchitecture, programFiles, runtimePrograms } from '../host/packages/sources.value.ts';
import { inventoryOn } from '../inventory/hosts.ts';
import type { Inventory, LinuxHost } from '../inventory/inventory.ts';
import { versionIn } from '../versions.ts';
import { runtimeMove } from './runtime-change.ts';
import { CONTAINER_RUNTIMES, containerRuntime, otherRuntime, RUNTIME_TITLES } from './runtimes.value.ts';

/**
 * Findings about a joined host with an unknown runtime: kbuild cannot change it. For a runtime that kbuild knows, `up`
 * moves the pods, or refuses.
 */
function unknownRuntime(inventory: Inventory, host: LinuxHost, endpoint: string): readonly HostFinding[] {
  const found = otherRuntime(inventory, host, endpoint);
  if (typeof found !== 'string') return [];
  const { title } = containerRuntime(inventoryOn(inventory, host));
  return [
    {
      severity: 'error',
      message:
        `has joined with ${found}, and the inventory asks for ${title}: kbuild does not know the runtime of this ` +
        'host',
      remedy: `take the host out with \`kbuild remove\`; \`kbuild up\` adds it again with ${title}`,
    },
  ];
}

const existingRuntime = eachHost(
  {
    name: 'existing-runtime',
    title: 'no containers of Docker or others run, and there is no second runtime',
    why:
      `kbuild configures and restarts ${RUNTIME_TITLES}, and other programs on the host may use the same one. ` +
      'Move those containers away, or ignore this check when they may be restarted. A second CRI runtime does no ' +
      "harm: kbuild always names the socket of the inventory's runtime. A joined host whose kubelet uses a " +
      'runtime that kbuild does not know keeps it: to change it, remove the host, edit `runtime.name`, and add ' +
      'it again.',
    severities: ['error', 'warning'],
  },
  ({ inventory, host, facts }): readonly HostFinding[] => {
    const { title, socket: own, otherSockets = [], ownerOf } = containerRuntime(inventory);
    // The operator decided about other containers when the host joined, or will when it changes to this runtime.
    const isMoving = runtimeMove(inventory, host, facts) !== undefined;
    if (hasKubelet(facts) && !isMoving) return unknownRuntime(inventory, host, facts.kubeletRuntime);
    return [
      ...[...facts.containers].flatMap(([namespace, count]): readonly HostFinding[] => {
        const owner = ownerOf(namespace);
        if (owner === undefined) return [];
        return [
          {
            severity: 'error',
            message: `${String(count)} containers of ${owner} run on the ${title} that up would configure and restart`,
            remedy: 'move them to another machine, or --ignore-check existing-runtime when they may be restarted',
          },
        ];
      }),
      ...foreignUnits({ inventory, facts }).map((path) => ({
        severity: 'error' as const,
        message: `has ${path}, which kbuild did not write and would have to overwrite`,
        remedy: moveUnit(path),
      })),
      ...(isMoving ? [] : facts.criSockets)
        .filter((socket) => socket !== own && !otherSockets.includes(socket))
        .map((socket) => ({
          severity: 'warning' as const,
          message: `has another container runtime (${socket}); Kubernetes will use ${title}`,
        })),
    ];
  },
);

const OTHER = 'give the host another runtime.name';

/** The finding about a runtime that no package provides for the host; undefined if a package does. */
function withoutPackage({ inventory, host, facts }: HostSeen): HostFinding | undefined {
  const { name, title, published } = containerRuntime(inventory);
  const distribution = knownDistribution(facts);
  if (distribution === undefined || isBuiltIn({ facts }, [name])) return undefined;
  if (distribution.packages === undefined && published === undefined)
    return {
      severity: 'error',
      message: `${title} comes as packages only, and ${distribution.name} has none`,
      remedy: OTHER,
    };
  if (getsBinaries({ host, facts }) && published === undefined)
    return {
      severity: 'error',
      message: `${title} comes as packages only, and the host gets binaries`,
      remedy: `${OTHER}, or take installFrom: binaries away`,
    };
  if (!getsBinaries({ host, facts }) && distribution.lacks?.includes(name) === true)
    return {
      severity: 'error',
      message: `${title} is not published for ${distribution.name}`,
      remedy: OTHER,
    };
  return undefined;
}

/** Programs beside the package of which no SHA-256 is known for the host's architecture. */
function unproved({ inventory, facts }: HostSeen): readonly HostFinding[] {
  const place = { architecture: goArchitecture(facts.arch), folder: '' };
  return Object.entries(runtimePrograms(inventory))
    .filter(([name, version]) => facts.binaries.get(name)?.version !== version)
    .flatMap(([name, version]) => programFiles(inventory, place, name, version))
    .filter(({ proof }) => typeof proof === 'string')
    .map(({ url, proof }) => ({
      severity: 'error' as const,
      message:
        proof === 'plain'
          ? `the inventory names no SHA-256 of ${url}, and it comes over plain http`
          : `the inventory names no SHA-256 of ${url}, and its project publishes none`,
      remedy: 'download the file, compare it with what its project says, and name its SHA-256 below downloads.sha256',
    }));
}

const runtimeSource = eachHost(
  {
    name: 'runtime-source',
    title: 'the container runtime of the host is published for its system and architecture',
    why:
      'Not every project publishes its container runtime for every system and in every form ([hosts](hosts.md)). ' +
      'Each host and each group can have a runtime of its own ([runtimes](runtimes.md)). Where the project of a ' +
      'program publishes no checksums, the inventory must name them: kbuild installs nothing that it has not ' +
      'compared.',
    severities: ['error'],
  },
  (seen) => {
    // A host that has joined has its runtime.
    if (seen.host.role === 'load-balancer' || hasKubelet(seen.facts)) return [];
    const finding = withoutPackage(seen);
    return finding === undefined ? unproved(seen) : [finding];
  },
);

/** Packages that bring some runtime, on whatever system. */
export const RUNTIME_PACKAGES: readonly string[] = CONTAINER_RUNTIMES.flatMap(({ otherPackages }) => otherPackages);

const runtimeVersion = eachHost(
  {
    name: 'runtime-version',
    title: "the container runtime that comes from the host's own system fits Kubernetes",
    why:
      'Some systems bring the container runtime, or pack it themselves, in a version that kbuild does not ' +
      'choose; a version that the inventory names is installed only if their repositories have it. With which ' +
      "Kubernetes a version works, the runtime's own support matrix says. `installFrom: binaries` takes the " +
      "version of the inventory instead, and another runtime (`runtime.name`) comes from its project's " +
      'repository.',
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

export const runtimeChecks: CheckGroup = { host: [existingRuntime, runtimeSource, runtimeVersion] };
