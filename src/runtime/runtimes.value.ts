import { inventoryOn } from '../inventory/hosts.ts';
import type { Host, Inventory, RuntimeName } from '../inventory/inventory.ts';
import type { Command } from '../shell/command.ts';
import { onceForEach } from '../shell/memo.ts';
import { quote } from '../shell/sh.ts';
import { withoutEnd } from '../shell/text.ts';
import { script, using } from '../templates.ts';
import { containerd } from './containerd.value.ts';
import { crio } from './crio.value.ts';
import { docker } from './docker.value.ts';
import type { ContainerRuntime } from './runtime.value.ts';

export type { ContainerRuntime };

/** All container runtimes of Linux hosts that kbuild knows. */
export const CONTAINER_RUNTIMES: readonly ContainerRuntime[] = Object.values({
  containerd,
  crio,
  docker,
} satisfies { readonly [N in RuntimeName]: ContainerRuntime<N> });

/** The container runtime of the host that the inventory holds for (`inventoryOn`). */
export const containerRuntime = ({
  runtime,
}: {
  readonly runtime: Pick<Inventory['runtime'], 'name'>;
}): ContainerRuntime => CONTAINER_RUNTIMES.find(({ name }) => name === runtime.name)!;

const isDirect = (from: ContainerRuntime, to: ContainerRuntime): boolean =>
  from.needs !== to.unit && to.needs !== from.unit;

/**
 * The runtime by way of which a joined host changes between two that share a program; undefined if it changes directly.
 * While the host is on that third one, nothing of Kubernetes needs what the two share.
 */
export const runtimeBetween = (from: ContainerRuntime, to: ContainerRuntime): ContainerRuntime | undefined =>
  isDirect(from, to) ? undefined : CONTAINER_RUNTIMES.find((one) => isDirect(from, one) && isDirect(one, to));

/** All units that serve Kubernetes by a runtime: its own, and those of its programs. */
export const servingUnits = ({ unit, programs = [] }: ContainerRuntime): readonly string[] => [
  unit,
  ...programs.flatMap(({ units }) => units),
];

/** Names of the packages that bring the runtime; the one that kbuild installs comes first. */
export const runtimePackages = (inventory: Inventory): readonly string[] => [
  ...new Set([inventory.runtime.package, ...containerRuntime(inventory).otherPackages]),
];

/** The CRI endpoint of a host as kubeadm, kubelet and crictl name it. */
export const criEndpoint = (inventory: Inventory, host: Host): string =>
  `unix://${containerRuntime(inventoryOn(inventory, host)).socket}`;

/** The path of a CRI endpoint, without its scheme, and with /run for /var/run. */
const pathOf = (endpoint: string): string => endpoint.replace(/^unix:\/\//, '').replace(/^\/var\/run\//, '/run/');

/**
 * What a host's kubelet uses, by the endpoint that it was given, where that is not what the inventory asks for on this
 * host: the runtime, or the path of one that kbuild does not know. undefined: it is the same, or there is no endpoint.
 */
export function otherRuntime(
  inventory: Inventory,
  host: Host,
  endpoint: string,
): ContainerRuntime | string | undefined {
  const found = pathOf(endpoint);
  if (found === '' || found === pathOf(criEndpoint(inventory, host))) return undefined;
  return CONTAINER_RUNTIMES.find(({ socket }) => socket === found) ?? found;
}

/** `a, b or c`. */
function oneOf(words: readonly string[]): string {
  return `${words.slice(0, -1).join(', ')} or ${words.at(-1)!}`;
}

/** The names of all runtimes, for messages that are the same for every inventory. */
export const RUNTIME_TITLES: string = oneOf(CONTAINER_RUNTIMES.map(({ title }) => title));

/** Folders in which some runtime keeps its data, for texts that are the same for every inventory. */
export const RUNTIME_DATA_FOLDERS: string = oneOf(CONTAINER_RUNTIMES.map(({ dataFolder }) => dataFolder));

/**
 * The folder of images and containers on a host that the inventory holds for: that of its `runtime.config`, or the
 * runtime's default.
 */
export function dataFolderOf({ runtime }: Pick<Inventory, 'runtime'>): string {
  const { dataFolder, dataFolderSetting } = containerRuntime({ runtime });
  const named = dataFolderSetting.reduce<unknown>(
    (settings, key) => (settings as Readonly<Record<string, unknown>> | null | undefined)?.[key],
    runtime.config,
  );
  // A path that is not absolute is refused by the runtime itself.
  return typeof named === 'string' && named.startsWith('/') ? withoutEnd(named, '/') || '/' : dataFolder;
}

/** Files of kbuild's own that it writes for a runtime, besides those of registries. */
export const runtimeFiles = ({ paths, published, shared, handlers }: ContainerRuntime): readonly string[] => [
  ...(published === undefined ? [] : [published.unit.path, published.builtIn.path]),
  ...(paths.units ?? []).map(({ path }) => path),
  paths.config,
  ...(handlers?.file === undefined ? [] : [handlers.file.path]),
  ...(paths.backup === undefined ? [] : [paths.backup]),
  ...(shared === undefined ? [] : [shared.record]),
  paths.proxy,
];

/**
 * Units of a package or program of Kubernetes or its runtime, in the order in which they are stopped; the last one
 * restarts with it. Empty where no unit runs it.
 */
export function unitsOf(inventory: Inventory, name: string): readonly string[] {
  const { unit, programs = [] } = containerRuntime(inventory);
  if (name === inventory.runtime.package) return [unit];
  if (name === 'kubelet') return ['kubelet'];
  return programs.find((program) => program.name === name)?.units ?? [];
}

const functionsOf = (name: RuntimeName): string => script(`runtime/${name}.sh`).script;

/**
 * Shell functions of the runtime that runs the host's pods. On a joined host it is the runtime that the kubelet uses:
 * while the node changes its runtime, that is not yet the one of the inventory. On a host that has not joined, it is
 * the runtime of the inventory.
 */
const servingFunctions = onceForEach((wanted: ContainerRuntime): Command<'sh'> => {
  const others = CONTAINER_RUNTIMES.filter((runtime) => runtime !== wanted);
  const branches = others.map(
    ({ name, socket }, i) =>
      `${i === 0 ? 'if' : 'elif'} [ "$runtime_serving" = ${quote(socket)} ]; then\n${functionsOf(name)}`,
  );
  return using('runtime/serving-runtime.sh', {
    shell: 'sh',
    script: [...branches, `else\n${functionsOf(wanted.name)}fi`].join('\n'),
    title: 'runtime',
  });
});

/**
 * A command for a host that may use the functions of templates/runtime/, which do the same with every container
 * runtime: those of the one that runs the host's pods now.
 */
export const withRuntime = (inventory: Inventory, host: Host, command: Command<'sh'>): Command<'sh'> =>
  using(servingFunctions(containerRuntime(inventoryOn(inventory, host))), command);

/** The same for the runtime that the inventory names, whichever runs the host's pods now. */
export const withWantedRuntime = (inventory: Inventory, host: Host, command: Command<'sh'>): Command<'sh'> =>
  using(`runtime/${inventoryOn(inventory, host).runtime.name}.sh`, command);

const hasRuntime = ({ os, role }: Host): boolean => os === 'linux' && role !== 'load-balancer';

/** The runtimes that Linux hosts of the inventory have, each once. */
export const runtimesInUse = (inventory: Inventory): readonly RuntimeName[] => [
  ...new Set(inventory.hosts.filter(hasRuntime).map((host) => inventoryOn(inventory, host).runtime.name)),
];
