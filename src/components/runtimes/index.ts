import type { Inventory } from '../../model/inventory.ts';
import type { Command } from '../../shell/command.ts';
import { using } from '../../templates.ts';
import { containerd } from './containerd.ts';
import { crio } from './crio.ts';
import type { ContainerRuntime } from './runtime.ts';

/** All container runtimes of Linux hosts that kbuild knows. */
export const CONTAINER_RUNTIMES: readonly ContainerRuntime[] = [containerd, crio];

/** The runtimes that an inventory can have. */
export const SUPPORTED_RUNTIMES: readonly ContainerRuntime[] = CONTAINER_RUNTIMES.filter(
  ({ isSupported }) => isSupported,
);

/** The container runtime of an inventory's Linux hosts. */
export const containerRuntime = ({
  runtime,
}: {
  readonly runtime: Pick<Inventory['runtime'], 'name'>;
}): ContainerRuntime => CONTAINER_RUNTIMES.find(({ name }) => name === runtime.name)!;

/** Names of the packages that bring the runtime; the one that kbuild installs comes first. */
export const runtimePackages = (inventory: Inventory): readonly string[] => [
  ...new Set([inventory.runtime.package, ...containerRuntime(inventory).otherPackages]),
];

/** The CRI endpoint as kubeadm, kubelet and crictl name it. */
export const criEndpoint = (inventory: Inventory): string => `unix://${containerRuntime(inventory).socket}`;

/** Folders in which some supported runtime keeps its data, for texts that are the same for every inventory. */
export const RUNTIME_DATA_FOLDERS: string = SUPPORTED_RUNTIMES.map(({ dataFolder }) => dataFolder).join(' or ');

/** Files that kbuild writes for a runtime, besides those of registries. */
export const runtimeFiles = ({ paths, published }: ContainerRuntime): readonly string[] => [
  ...(published === undefined ? [] : [published.unit.path, published.builtIn.path]),
  paths.config,
  ...(paths.backup === undefined ? [] : [paths.backup]),
  paths.proxy,
];

/** A command that may use the functions of templates/runtimes/, which do the same with every container runtime. */
export const withRuntime = (inventory: Inventory, command: Command<'sh'>): Command<'sh'> =>
  using(`runtimes/${containerRuntime(inventory).name}.sh`, command);
