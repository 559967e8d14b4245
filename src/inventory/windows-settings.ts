/** How a Windows host is built; the host's own `windows:` laid over the inventory's. */
export interface WindowsSettings {
  /** Without `v`: `2.3.5`. */
  readonly containerd: { readonly version: string };
  readonly crictl: { readonly version: string };
  readonly pauseImage: string;
  /** What runs the kubelet: the service manager of Windows itself, or nssm. */
  readonly serviceManager: 'native' | 'nssm';
  /** `on`: the Hyper-V feature too, for Hyper-V isolation. */
  readonly hyperv: 'off' | 'on';
  /** False: a restart that a feature needs is left to the user. */
  readonly allowReboot: boolean;
  /** True: a build that Kubernetes does not support is only warned about. */
  readonly allowUnsupportedOs: boolean;
  /** Memory that pods do not get, as Kubernetes quantities: `1Gi`. */
  readonly reserved: { readonly system: string; readonly kube: string };
  readonly downloads: WindowsDownloads;
}

/** Where the programs of a Windows host come from; versions are already filled in, except that of Kubernetes. */
export interface WindowsDownloads {
  /** `host`: the host fetches them. `operator`: this machine does, and sends them over SSH. */
  readonly via: 'host' | 'operator';
  /** Folder (URL) that holds the files of a release of Kubernetes; `{version}` stands for the version, without `v`. */
  readonly kubernetes: string;
  /** Folders (URLs) that hold the files of the release. */
  readonly containerd: string;
  readonly crictl: string;
  readonly nssm: string;
  /** Folder with the programs of a network plugin that is a service. */
  readonly network: string;
  /** SHA-256 (hex) by file name, for files whose publisher offers none or is not trusted with it. */
  readonly sha256: Readonly<Record<string, string>>;
}
