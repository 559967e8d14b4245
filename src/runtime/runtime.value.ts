import type { DownloadName, Inventory, RegistrySettings, RuntimeName } from '../inventory/inventory.ts';
import type { HandlerKind, RuntimeHandler } from '../inventory/runtime-handlers.ts';
import type { Command } from '../shell/command.ts';
import type { JsonObject } from '../shell/decode.ts';
import { lines, probeInPlace, type Probe } from '../shell/probe.ts';
import type { Secret } from '../shell/secret.ts';
import { sh } from '../shell/sh.ts';

/** Which cgroup driver is in use; `none` if no pod runs, `mixed` if runtime and kubelet disagree. */
type DriverInUse = 'systemd' | 'cgroupfs' | 'none' | 'mixed';

/** The path in a line of /proc/PID/cgroup: `HIERARCHY:CONTROLLERS:PATH` (cgroups(7)). */
const pathIn = (line: string): string => line.slice(line.indexOf(':', line.indexOf(':') + 1) + 1);

/**
 * The cgroup driver that kubelet and runtime really use, read from the cgroups of running containers: the systemd
 * driver nests slices and scopes (`/kubepods.slice/…/SCOPE-ID.scope`), cgroupfs plain folders (`/kubepods/…/ID`).
 * `scope` is what the names of the runtime's scopes begin with.
 */
export const cgroupDriverInUse = (scope: string): Probe<DriverInUse> =>
  probeInPlace(
    // All hierarchies of cgroup v1 have the same path for a container: the first line of a process says enough.
    sh`grep -hsE -m 1 ${`/kubepods|${scope}`} /proc/[0-9]*/cgroup || true`,
    (out): DriverInUse => {
      const drivers = new Set(
        [...new Set(lines(out).map(pathIn))].flatMap((path) => [
          path.includes('/kubepods.slice') ? 'systemd' : 'cgroupfs',
          ...(/[0-9a-f]{64}/.test(path)
            ? [path.endsWith('.scope') ? ('systemd' as const) : ('cgroupfs' as const)]
            : []),
        ]),
      );
      if (drivers.size === 0) return 'none';
      return drivers.size === 1 ? ([...drivers][0] as DriverInUse) : 'mixed';
    },
  );

/** The runtime's effective configuration: the file on disk and the defaults. */
export interface RuntimeConfig {
  /** `unset` if the runtime's options do not name it. */
  readonly cgroupDriver: 'systemd' | 'cgroupfs' | 'unset';
  readonly sandboxImage: string;
  readonly criDisabled: boolean;
  /** True if containers get SELinux labels; missing if the runtime does not report it. */
  readonly labels?: boolean;
  /** Names of all handlers; missing if the runtime does not report them. */
  readonly handlers?: readonly string[];
}

/** The default package and repository of the runtime. */
export interface RuntimeDefaults {
  readonly package: string;
  readonly repository: DefaultRepository & { readonly rpm: DefaultRepository };
}

interface DefaultRepository {
  /** May hold `{distribution}`, `{codename}` and `{minor}` (of Kubernetes). */
  readonly url: string;
  /** `/`: a flat repository. */
  readonly suite: string;
  readonly component: string;
  /** Path of the signing key below the url. */
  readonly key: string;
  /** 40 upper-case hexadecimal digits. */
  readonly fingerprint: string;
}

/** A file by which the runtime reaches a registry as the inventory configures it. */
export interface RegistryFile {
  readonly path: string;
  /** undefined: there must be no such file. */
  readonly content: string | Secret | undefined;
}

/** The inventory's settings for access to a registry, without secrets. */
export type RegistryWay = Pick<RegistrySettings, 'host' | 'mirrors' | 'username'>;

/** A failure of the runtime that its messages show, with the cause and the remedy. */
interface RuntimeSignature {
  readonly name: string;
  readonly seen: RegExp;
  readonly cause: string;
  readonly remedy: string;
}

/** Files that kbuild writes for a runtime. */
interface RuntimePaths {
  readonly config: string;
  /** Path of the backup of the file that `config` replaced; missing if only kbuild writes this file. */
  readonly backup?: string;
  /** Drop-in of the unit with the proxy. */
  readonly proxy: string;
  /** Units that kbuild writes on every system, because no package of the runtime's repository brings them. */
  readonly units?: readonly { readonly template: string; readonly path: string }[];
}

/** A file of a project's release. */
interface PublishedFile {
  readonly from: DownloadName;
  /** undefined: that of the runtime. */
  readonly version?: string;
  readonly kind: 'program' | 'archive';
  readonly name: string;
}

/** How kbuild installs the runtime without packages. */
interface PublishedRuntime {
  /** The files that a version of the runtime needs, besides the CNI plugins. */
  readonly files: (version: string) => readonly PublishedFile[];
  /** Its unit: a file of templates/, and the path on the host. */
  readonly unit: { readonly template: string; readonly path: string };
  /** A drop-in for the unit of a runtime that the system brings: with it the runtime reads `paths.config`. */
  readonly builtIn: { readonly path: string; readonly content: string };
}

/**
 * A program that the runtime needs beside its packages, on every system in the form in which its project publishes it.
 */
export interface RuntimeProgram extends PublishedFile {
  /** The default version. */
  readonly version: string;
  /** Units that run it, in the order in which they are stopped. The last one restarts with a new program. */
  readonly units: readonly [string, ...string[]];
  /** Folder of its records of pods. kbuild removes its empty parts with the program. */
  readonly stateFolder: string;
  /** The reason why a version of it does not fit a Kubernetes minor; undefined if it fits. */
  readonly misfit: (minor: string, version: string) => RuntimeMisfit | undefined;
}

/**
 * A file of JSON settings that the runtime's administrator owns: kbuild puts its settings in, records what was there,
 * and takes them out again at a reset.
 */
export interface SharedSettings {
  readonly path: string;
  /** kbuild's record of what it changed. */
  readonly record: string;
  /** The settings that kbuild needs, given those that are there without it. */
  readonly settings: (inventory: Inventory, there: JsonObject) => JsonObject;
  /** Fails if the runtime is installed and rejects the settings at a path. */
  readonly validate: (path: string) => Command<'sh'>;
}

/** How the runtime's configuration names further handlers. */
interface RuntimeHandlers {
  /** The settings of one handler, by its kind; this runtime does not support a missing kind. */
  readonly tables: Readonly<
    Partial<Record<HandlerKind, (handler: RuntimeHandler, inventory: Inventory) => JsonObject>>
  >;
  /** Names that the runtime gives to handlers itself: its default handler is one of them. */
  readonly reserved: readonly string[];
  /** The names of all handlers in the configuration that kbuild writes; missing where `RuntimeConfig.handlers` is. */
  readonly names?: (inventory: Inventory) => readonly string[];
  /** A file that handlers of one kind read when a pod starts. */
  readonly file?: {
    readonly path: string;
    readonly kind: HandlerKind;
    readonly content: (handler: RuntimeHandler, inventory: Inventory) => string;
  };
}

/** Why a version of the runtime does not fit Kubernetes. */
export interface RuntimeMisfit {
  readonly severity: 'error' | 'warning';
  readonly message: string;
}

/**
 * Everything that other parts of kbuild know about a container runtime of Linux hosts. Its steps are in src/runtime/,
 * the functions for scripts in templates/runtime/.
 */
export interface ContainerRuntime<N extends RuntimeName = RuntimeName> {
  readonly name: N;
  /** Its name in messages. */
  readonly title: string;
  /** Path of the CRI socket. */
  readonly socket: string;
  /** Its name in the status of nodes: `NAME://VERSION`. */
  readonly reportedAs: string;
  /** systemd unit, without `.service`. */
  readonly unit: string;
  /** Units that would start it again when it is stopped without them. */
  readonly startedBy?: readonly string[];
  /**
   * The unit of another runtime through which it starts containers. No joined host changes directly between the two.
   */
  readonly needs?: string;
  /**
   * It goes on where others have something on it when Kubernetes leaves it. Missing: their containers keep a host from
   * leaving it.
   */
  readonly servesOthers?: true;
  /** Folder of images and containers, unless `runtime.config` names another one. */
  readonly dataFolder: string;
  /** The keys of the setting with that folder. */
  readonly dataFolderSetting: readonly string[];
  readonly paths: RuntimePaths;
  readonly defaults: RuntimeDefaults;
  /** undefined: it comes as packages only. */
  readonly published?: PublishedRuntime;
  /** Packages that are installed with the package of this name: name → version, or `any`. */
  readonly companions?: (name: string, version: string) => Readonly<Record<string, string>>;
  readonly programs?: readonly RuntimeProgram[];
  /** Missing if the runtime shares no file with its administrator. */
  readonly shared?: SharedSettings;
  /** CRI sockets that its packages bring besides, and that Kubernetes does not use. */
  readonly otherSockets?: readonly string[];
  /**
   * The version that kbuild installs for a Kubernetes minor unless the inventory names one; undefined if it does not
   * know the minor.
   */
  readonly version: (minor: string) => string | undefined;
  /** Why a version does not fit a Kubernetes minor that kbuild knows; undefined if it fits. */
  readonly misfit: (minor: string, version: string) => RuntimeMisfit | undefined;
  /**
   * The last day with security fixes, by the line `MAJOR.MINOR` of the runtime: `YYYY-MM-DD`. Lines without a published
   * day are missing.
   */
  readonly ends: Readonly<Record<string, string>>;
  /** Other packages that bring the runtime, besides the one that the inventory names. */
  readonly otherPackages: readonly string[];
  /** Missing if kbuild does not configure further handlers for it. */
  readonly handlers?: RuntimeHandlers;
  /**
   * Settings that kubelets of a Kubernetes minor need with this runtime, under those of the inventory. Missing: none.
   */
  readonly kubeletConfig?: (minor: string) => JsonObject;
  /** Content of `paths.config`. */
  readonly configuration: (inventory: Inventory) => string;
  /** Fails if the runtime is installed and rejects the configuration at a path. */
  readonly validate: (path: string) => Command<'sh'>;
  /** The sandbox image that the configuration names: the pause image, or the one in the user's own settings. */
  readonly sandboxImage: (inventory: Inventory) => string;
  /**
   * Why it cannot reach a registry in the way that the inventory asks for; undefined if it can. Missing: it can reach
   * all.
   */
  readonly cannotReach?: (registry: RegistryWay) => string | undefined;
  /** Files for the inventory's registries. */
  readonly registryFiles: (registries: readonly RegistrySettings[]) => readonly RegistryFile[];
  /**
   * Folder with a folder for each registry. `whole`: every file there is kbuild's; `shared`: other programs have files
   * there too.
   */
  readonly registriesFolder: { readonly path: string; readonly use: 'whole' | 'shared' };
  /** Prints the registry files that kbuild wrote, one a line. */
  readonly ownRegistryFiles: Command<'sh'>;
  readonly probes: {
    /** `absent` if the runtime is not installed, `invalid` if it rejects the configuration on disk. */
    readonly config: Probe<RuntimeConfig | 'absent' | 'invalid'>;
    /** Full names of the images that Kubernetes can use; none if the runtime does not run. */
    readonly images: Probe<ReadonlySet<string>>;
    /** Running containers, counted by namespace. */
    readonly containers: Probe<ReadonlyMap<string, number>>;
    readonly cgroupDriverInUse: Probe<DriverInUse>;
  };
  /** Who runs the containers of a namespace; undefined for Kubernetes' own. */
  readonly ownerOf: (namespace: string) => string | undefined;
  readonly signatures: readonly RuntimeSignature[];
}
