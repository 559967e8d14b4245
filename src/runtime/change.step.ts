import { isMixed } from '../cluster/api-versions.ts';
import { acting } from '../cluster/live.ts';
import { standing } from '../cluster/standing.ts';
import { runs, waitForApi } from '../engine/combinators.ts';
import { registeredNode } from '../engine/drain.ts';
import { isChanging } from '../engine/note.ts';
import { ABOUT_MS } from '../engine/restarts.ts';
import type { Change, Step, Target } from '../engine/step.ts';
import { textDiff } from '../engine/text-diff.ts';
import { NotConverged } from '../errors.ts';
import { removePrograms } from '../host/packages/binaries.value.ts';
import { distributionOf, everyRepositoryFiles } from '../host/packages/distributions.value.ts';
import { kubectl } from '../inventory/api-server.ts';
import type { Inventory } from '../inventory/inventory.ts';
import type { Command } from '../shell/command.ts';
import { sh } from '../shell/sh.ts';
import type { On } from '../ssh/remote.ts';
import { script, using } from '../templates.ts';
import { runtimeMove, type RuntimeMove } from './runtime-change.ts';
import {
  CONTAINER_RUNTIMES,
  containerRuntime,
  type ContainerRuntime,
  servingUnits,
  withWantedRuntime,
} from './runtimes.value.ts';
import { settingsTakenOut } from './settings-file.step.ts';

/** Limit in ms for all pods of a host to end and be removed. */
const MOVE_MS = 15 * 60_000;

/**
 * The annotation in which older kubeadms record the CRI socket of a node. Newer ones read a file on the host instead.
 */
const CRI_SOCKET = 'kubeadm.alpha.kubernetes.io/cri-socket';

/**
 * The change of runtime that is pending on a joined host, where `up` may make it now: in the middle of an upgrade it
 * restarts nothing. Throws `FactError` when a fact that it needs is unknown.
 */
export function pendingMove(target: Target): RuntimeMove | undefined {
  const { inventory, host, facts, fleet } = target;
  const { cluster } = fleet;
  const move = runtimeMove(inventory, host, facts);
  if (move === undefined || (cluster.state === 'up' && isMixed(cluster))) return undefined;
  return standing(target) === 'joined' ? move : undefined;
}

const endpointOf = ({ socket }: RuntimeMove['from']): string => `unix://${socket}`;

/** @throws NotConverged unless the host's new runtime is installed and answers */
export async function newRuntimeAnswers({ inventory, host }: Target, { to }: RuntimeMove, on: On): Promise<void> {
  const asked = withWantedRuntime(inventory, host, sh`if runtime_answers; then echo yes; fi`);
  if ((await on(host).run(asked)).includes('yes')) return;
  throw new NotConverged(
    host.name,
    'runtime-moved',
    [`an answer of ${to.title}`],
    'run `kbuild up` with all of its phases',
  );
}

/**
 * Moves a drained host to the runtime of the inventory: all of its pods, static pods too, end and start again there.
 */
export const runtimeMoved: Step = {
  name: 'runtime-moved',
  settleMs: 60_000,
  diff: (target) => {
    const { host } = target;
    const move = pendingMove(target);
    if (move === undefined) return [];
    const { from, to } = move;
    const command = script('runtime/move-runtime.sh', {
      FROM: endpointOf(from),
      TO: endpointOf(to),
      UNITS: servingUnits(from),
    });
    return [
      {
        summary: `end all pods of ${host.name} on ${from.title}, and start them on ${to.title}`,
        disrupts: true,
        restarts: [{ what: 'all pods of the host', hosts: [host.name], aboutMs: ABOUT_MS.staticPod, atOnce: 1 }],
        preview: () =>
          Promise.resolve(
            `/var/lib/kubelet/config.yaml\n${textDiff(
              `containerRuntimeEndpoint: ${endpointOf(from)}`,
              `containerRuntimeEndpoint: ${endpointOf(to)}`,
            )}`,
          ),
        apply: async (on) => {
          await newRuntimeAnswers(target, move, on);
          const title = `move the pods of ${host.name}`;
          await on(host).job('runtime-moved', { ...command, title, deadlineMs: MOVE_MS });
        },
      },
    ];
  },
};

/** Writes the runtime's socket to the annotation that kubeadm made on the node, if there is one. */
const socketNoted: Step = {
  name: 'cri-socket-noted',
  diff: (target) => {
    const { inventory, host, fleet, facts } = target;
    const node = registeredNode(target);
    const found = node?.annotations[CRI_SOCKET];
    const wanted = facts.kubeletRuntime;
    if (found === undefined || wanted === '' || found === wanted || !isChanging(target)) return [];
    const control = acting(fleet);
    const patch = JSON.stringify({ metadata: { annotations: { [CRI_SOCKET]: wanted } } });
    return [
      {
        summary: `note ${wanted} on the node ${host.name} (found ${found})`,
        apply: runs(control, sh`${kubectl(inventory, control)} patch node ${host.name} --type merge -p ${patch}`),
      },
    ];
  },
};

/** Waits until the node reports the runtime of the inventory. */
const reported: Step = {
  name: 'runtime-reported',
  settleMs: 5 * 60_000,
  diff: (target): readonly Change[] => {
    const { cluster } = target.fleet;
    // A single control plane does not answer while its own pods start.
    if (cluster.state === 'down' && target.facts.formerRuntimes.size > 0) return [waitForApi(cluster)];
    const node = registeredNode(target);
    if (!isChanging(target)) return [];
    const { title, reportedAs } = containerRuntime(target.inventory);
    if (node === undefined || node.runtime.startsWith(`${reportedAs}://`)) return [];
    return [{ summary: `wait until ${node.name} reports ${title} (found ${node.runtime || 'nothing'})` }];
  },
};

/** Steps that prove that a node uses its new runtime. */
export const moveGates: readonly Step[] = [reported, socketNoted];

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
