import { selects } from '../hosts.ts';
import type { Host } from '../inventory.ts';
import { merged, mergedArguments } from '../merge.ts';
import { HANDLER_KINDS, type HandlerKind } from '../runtime-handlers.ts';
import type { InventoryFile } from '../schema/schema.ts';

type HostEntry = InventoryFile['hosts'][number];

/**
 * The settings of a host's node, from the farthest to the nearest: of its role, of its groups in their order, its own.
 */
export const levelsOf = (file: InventoryFile, host: HostEntry) =>
  [
    host.role === 'control-plane' || host.role === 'worker' ? file.roles[host.role] : undefined,
    ...host.groups.map((name) => file.groups[name]),
    host,
  ].filter((level) => level !== undefined);

/** Settings of a host's kubelet, from every level. */
export function kubeletOf(file: InventoryFile, host: HostEntry): Host['kubelet'] {
  const kubelets = [file.kubelet, ...levelsOf(file, host).map(({ kubelet }) => kubelet)];
  return {
    config: kubelets.reduce((config, level) => merged(config, level.config), {}),
    extraArgs: kubelets.reduce<Host['kubelet']['extraArgs']>(
      (args, level) => mergedArguments(args, level.extraArgs),
      [],
    ),
  };
}

type RuntimeFile = InventoryFile['runtime'];

/** The runtime of one level over that of the farther ones. */
function runtimeOver(farther: RuntimeFile, nearer: HostEntry['runtime']): RuntimeFile {
  if (nearer === undefined) return farther;
  const { cgroupDriver, registries, selinux } = farther;
  const base =
    nearer.name === undefined || nearer.name === farther.name
      ? farther
      : {
          ...{ name: nearer.name, cgroupDriver, registries, repository: {}, config: {}, handlers: {} },
          // It is about the system, not about the runtime.
          ...(selinux === undefined ? {} : { selinux }),
        };
  return {
    ...base,
    ...nearer,
    name: base.name,
    repository: { ...base.repository, ...nearer.repository },
    config: merged(base.config, nearer.config),
    handlers: { ...base.handlers, ...nearer.handlers },
  };
}

/** What runs a handler of this name; undefined if neither its settings nor its name say so. */
export const kindOf = (name: string, { kind }: RuntimeFile['handlers'][string]): HandlerKind | undefined =>
  kind ?? HANDLER_KINDS.find((one) => one === name);

/**
 * The runtime of a host, from every level. A level that names another runtime takes only what is the same on all hosts.
 */
export const runtimeFileOf = (file: InventoryFile, host: HostEntry): RuntimeFile =>
  levelsOf(file, host).reduce((farther, { runtime }) => runtimeOver(farther, runtime), file.runtime);

/** True if some level beside the inventory's own says something of the runtime. */
export const hasOwnRuntimes = (file: InventoryFile): boolean =>
  file.hosts.some((host) => levelsOf(file, host).some(({ runtime }) => runtime !== undefined));

/** A host as far as selecting it goes. */
interface Selectable {
  readonly name: string;
  readonly role: string;
  readonly groups: readonly string[];
}

/** Hosts that one selector means: `all`, a role, a group, a name or a pattern with `*`. */
export const selected = <H extends Selectable>(hosts: readonly H[], selector: string): readonly H[] =>
  hosts.filter(
    ({ name, role, groups }) =>
      selector === 'all' || selector === role || groups.includes(selector) || selects([selector], name),
  );

/** A text or a list of texts, as a list. */
export const asList = (value: string | readonly string[]): readonly string[] =>
  typeof value === 'string' ? [value] : value;
