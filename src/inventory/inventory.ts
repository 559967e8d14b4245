import type { JsonObject } from '../shell/decode.ts';
import type { Secret } from '../shell/secret.ts';
import type { BuiltEtcd, Certificates, Dns, ExternalEtcd, LoadBalancer } from './control-plane.ts';
import type { Hooks, Rollout, SshSettings, TimeSync } from './host-settings.ts';
import type { PluginSettings } from './network-plugins.ts';
import type { RuntimeHandler } from './runtime-handlers.ts';
import type { WindowsSettings } from './windows-settings.ts';

/** What a host is for. One role a host. */
export type Role = 'control-plane' | 'worker' | 'etcd' | 'load-balancer';

/** kubeadm v1beta4 writes arguments as a list; names without leading dashes. */
export interface Argument {
  readonly name: string;
  readonly value: string;
}

export interface Taint {
  readonly key: string;
  readonly value?: string;
  readonly effect: 'NoSchedule' | 'PreferNoSchedule' | 'NoExecute';
}

/**
 * `binaries`: programs as their projects publish them. `distribution`: packages, or binaries where the system has no
 * packages.
 */
type InstallFrom = 'distribution' | 'binaries';

/**
 * What hosts download as their projects publish it: with `installFrom: binaries`, and the last one with Docker Engine.
 */
export type DownloadName = 'kubernetes' | 'containerd' | 'runc' | 'cniPlugins' | 'crictl' | 'criDockerd';

/**
 * Signatures of what is published, which lie beside each file as `.sig` and `.cert`. `auto`: a host that has cosign
 * verifies them, and installs nothing that it cannot verify. `required`: a host without cosign installs nothing. `off`:
 * they are not read.
 */
export type Signatures = 'auto' | 'required' | 'off';

/** Where one of them is published: URLs with `{version}`, `{arch}` (amd64, arm64) and `{name}` of the program. */
export interface Download {
  readonly url: string;
  /**
   * Where its SHA-256 is published; `{url}` and `{folder}` stand for the file's URL and the folder of that. undefined:
   * nowhere.
   */
  readonly checksums?: string;
  /** undefined: the project publishes none. */
  readonly signatures?: Signatures;
  /** undefined: kbuild's default, or that of `kubernetes.version` or `runtime.version`. */
  readonly version?: string;
}

interface HostCommon {
  readonly name: string;
  /** Where SSH connects. */
  readonly address: string;
  /** Where Kubernetes listens; default: `address`. `secondAddress`: of the cluster's second family, if it has two. */
  readonly internalAddress: string;
  readonly secondAddress?: string;
  /** Groups of the host, in its order. */
  readonly groups: readonly string[];
  readonly ssh: SshSettings;
  /** kubelet settings of this host, already merged from the inventory's, the role's, its groups' and the host's own. */
  readonly kubelet: { readonly config: JsonObject; readonly extraArgs: readonly Argument[] };
  readonly labels: Readonly<Record<string, string>>;
  /** undefined: kubeadm's default taint of a control plane, none on a worker. An empty list means none. */
  readonly taints: readonly Taint[] | undefined;
  /** True: `up` sets the hostname to the host's name. */
  readonly setHostname: boolean;
}

export interface LinuxHost extends HostCommon {
  readonly os: 'linux';
  readonly role: Role;
  /** Kernel settings of the inventory for this host, merged from all levels: name with dots → value. */
  readonly sysctls: Readonly<Record<string, string>>;
  /** Where the programs of Kubernetes and its runtime come from. `distribution`: the way of the host's system. */
  readonly installFrom: InstallFrom;
  /** Packages of the user's own, from the repositories of the host's system. */
  readonly packages: readonly string[];
  /** PEM texts of authorities that the system trusts besides its own. */
  readonly trustedCas: readonly string[];
  /** undefined: kbuild leaves the host's time service alone. */
  readonly timeSync?: TimeSync;
  /** Set on all Linux hosts or on none: then all have the inventory's. */
  readonly runtime?: RuntimeSettings;
}

export interface WindowsHost extends HostCommon {
  readonly os: 'windows';
  readonly role: 'worker';
  readonly windows: WindowsSettings;
}

export type Host = LinuxHost | WindowsHost;

/**
 * A package repository with its pinned signing key. `url`, `suite` and the key's `url` may hold `{distribution}` and
 * `{codename}`, which the distribution of each host replaces when the repository is set up.
 */
export interface RepositorySource {
  /** `{minor}` already replaced. */
  readonly url: string;
  /** The URL as the inventory names it, with `{minor}`: an upgrade needs the repositories of other minors. */
  readonly urlOfMinor?: string;
  /** undefined: a flat repository, all files of which lie below `url`. */
  readonly suite?: string;
  readonly component?: string;
  /** Where the host fetches the signing key, or the key itself when the inventory named a file. */
  readonly key: { readonly url: string } | { readonly content: string };
  /** The key's primary fingerprint, 40 upper-case hexadecimal digits; a key that does not match is refused. */
  readonly fingerprint: string;
  /** `metadata`: the key signs the lists of packages, with their checksums, and not each package. Default: both. */
  readonly signs?: 'metadata';
}

/** Where hosts with Debian's packages find a component, and beside it, where the others do. */
export interface PackageRepository extends RepositorySource {
  readonly rpm: RepositorySource;
}

/** How the runtime reaches one registry. */
export interface RegistrySettings {
  /** Registry host as in image names, e.g. `registry.k8s.io`; `_default` for all others. */
  readonly host: string;
  /** Base URLs, tried in order before the registry itself. */
  readonly mirrors: readonly string[];
  /** PEM text of a private CA. */
  readonly ca?: string;
  readonly username?: string;
  readonly password?: Secret;
}

/** A file that `up` distributes. */
interface FileToDistribute {
  /** Names of the hosts that get it. */
  readonly hosts: readonly string[];
  readonly path: string;
  readonly content: string | Secret;
  /** e.g. 0o644 */
  readonly mode: number;
}

/** Objects for the cluster, of a manifest or a chart. `secrets`: a chart's secret values, which may stand in them. */
export interface UserManifest {
  /** The file or URL it came from, or `chart NAME VERSION`. */
  readonly source: string;
  readonly objects: readonly JsonObject[];
  readonly secrets?: readonly Secret[];
}

/** The container runtimes that an inventory can name. */
export type RuntimeName = 'containerd' | 'crio' | 'docker';

/** The container runtime of Linux hosts. */
export interface RuntimeSettings {
  readonly name: RuntimeName;
  /** Without `v`: `2.2.9`. */
  readonly version: string;
  /** `default`: a host that has joined keeps the version that it runs until `upgrade` changes it. */
  readonly versionFrom: 'inventory' | 'default';
  /** The same on all hosts. */
  readonly cgroupDriver: 'systemd' | 'cgroupfs';
  readonly repository: PackageRepository;
  /** Name of the package. */
  readonly package: string;
  /** Merged into the generated configuration. */
  readonly config: JsonObject;
  /** True: SELinux confines containers. */
  readonly selinux: boolean;
  /** Further ways to start containers, in the order of their names; the default one stays as it is. */
  readonly handlers: readonly RuntimeHandler[];
  /** The same on all hosts. */
  readonly registries: readonly RegistrySettings[];
}

/** The file and its parsed, immutable form: what should be. After loading, nothing has a default any more. */
export interface Inventory {
  readonly name: string;
  /** Absolute path of the file, or `-`. */
  readonly file: string;
  readonly kubernetes: {
    /** Without `v`: `1.36.3`. */
    readonly version: string;
    /** `1.36` */
    readonly minor: string;
    readonly repository: PackageRepository;
    /** Versions of minors between that of a live cluster and `version`, which an upgrade passes through. */
    readonly via: readonly string[];
    readonly imageRepository: string;
    readonly dnsDomain: string;
    /** CA fingerprint (`sha256:` + 64 hex of its public key) of a cluster that kubeadm built without kbuild. */
    readonly adopt?: string;
  };
  /** `host:port` that kubelets and users reach the API at; always set. */
  readonly endpoint: string;
  /** True if every host's /etc/hosts gets the endpoint's name. */
  readonly endpointInHosts: boolean;
  readonly network: PluginSettings & {
    /** A network, or one of each family with a comma between them; the first family is the primary one. */
    readonly podSubnet: string;
    readonly serviceSubnet: string;
    /** Further networks for Services. `mtu`: of the interfaces of pods; undefined: the plugin decides. */
    readonly mtu?: number;
    readonly moreServiceSubnets: readonly string[];
    /** Manifests of the network plugin, as its project publishes them; empty where kbuild writes all of its objects. */
    readonly manifests: readonly UserManifest[];
    /** With agnhost, for tests from pods. */
    readonly testImage: string;
  };
  readonly dns: Dns;
  /** Of hosts without a runtime of their own; see `inventoryOn`. */
  readonly runtime: RuntimeSettings;
  readonly etcd: { readonly topology: 'stacked' } | ExternalEtcd | BuiltEtcd;
  readonly certificates: Certificates;
  readonly loadBalancer: LoadBalancer;
  /** Outbound proxy; `noProxy` is complete: hosts, endpoint, CIDRs, .svc, the cluster's domain. */
  readonly proxy: { readonly http?: string; readonly https?: string; readonly noProxy: readonly string[] } | undefined;
  readonly files: readonly FileToDistribute[];
  /** Commands of the user's around what kbuild does. */
  readonly hooks: Hooks;
  readonly rollout: Rollout;
  readonly manifests: readonly UserManifest[];
  /** Overrides merged into kbuild's configuration objects. Fields that kbuild owns were refused while loading. */
  readonly kubeadm: {
    readonly init: JsonObject;
    readonly cluster: JsonObject;
    readonly join: JsonObject;
    readonly kubeProxy: JsonObject;
    readonly reset: JsonObject;
    /** Patch files for kubeadm's `patches.directory`: file name → content. */
    readonly patches: Readonly<Record<string, string>>;
  };
  readonly hosts: readonly Host[];
  /** Whether `up` opens what a host's firewall keeps closed. */
  readonly firewall: 'report' | 'open';
  readonly ignoreChecks: readonly string[];
  /** Of hosts with `installFrom: binaries`. */
  readonly downloads: Readonly<Record<DownloadName, Download>> & {
    /** URL of a file → its SHA-256, which counts instead of the published one. */
    readonly sha256: Readonly<Record<string, string>>;
  };
  readonly backup: {
    /** Public keys for which `kbuild backup` encrypts: `age1…`, `ssh-ed25519 …`. */
    readonly recipients: readonly string[];
  };
}
