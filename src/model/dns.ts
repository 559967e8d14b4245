/** Amounts of a container: Kubernetes quantities, e.g. `100m` and `200Mi`. */
export interface Amounts {
  readonly cpu?: string;
  readonly memory?: string;
}

/** Cluster DNS, where it differs from what kubeadm makes. A missing setting is kubeadm's. */
export interface Dns {
  /** Number of pods. */
  readonly replicas?: number;
  /** Of each pod, over those of kubeadm. */
  readonly resources?: { readonly requests?: Amounts; readonly limits?: Amounts };
  /** Server blocks beside that of kubeadm: zone, with a port if it is not 53 → the lines of the block. */
  readonly blocks: Readonly<Record<string, string>>;
}
