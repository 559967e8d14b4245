import type { Secret } from '../shell/secret.ts';

/** A certificate that the user's signing command makes. */
export interface SigningRequest {
  readonly host: string;
  /** As kubeadm calls the file: `apiserver`, `admin.conf`; `kubelet` for one that a kubelet asks for itself. */
  readonly certificate: string;
  /** Extended key usages; `peer`: both, for a member of etcd, which is client and server of the others. */
  readonly profile: 'client' | 'server' | 'peer';
  /** PKCS#10, PEM. */
  readonly request: string;
}

/** Runs the user's signing command and returns what it printed, unchecked. Rejects with the command's error output. */
export type Sign = (request: SigningRequest) => Promise<string>;

/** The user's own CA: with its key, or with a command that signs elsewhere. `cert` is PEM; a pair was checked. */
export type Authority =
  { readonly cert: string; readonly key: Secret } | { readonly cert: string; readonly sign: Sign };

/** The user's own authorities, by their settings below `certificates`; a missing one is made by kubeadm. */
export interface OwnAuthorities {
  /** Of the cluster. */
  readonly ca?: Authority;
  /** Of etcd, unless it is the user's own. */
  readonly etcdCa?: Authority;
  /** Of the front proxy: API servers show its certificates to extension API servers. */
  readonly frontProxyCa?: Authority;
}

/** How control planes get the certificates that they share, and the user's own authorities. */
export interface Certificates extends OwnAuthorities {
  /**
   * `copy`: from one host to the other, through memory. `upload`: through an encrypted Secret of the cluster; never
   * with an authority that signs elsewhere, which kubeadm refuses to upload.
   */
  readonly distribution: 'upload' | 'copy';
  /** kbuild renews a certificate when it is valid for at most so many ms more; see `isDue`. */
  readonly renewBeforeMs: number;
}

/** haproxy and keepalived with a virtual address, built by kbuild. */
export interface KeepalivedBalancer {
  readonly kind: 'keepalived';
  /** The virtual address, of the primary family. */
  readonly address: string;
  /** The port at which haproxy listens. */
  readonly port: number;
  /** The port at which haproxy reports to its own host whether it has a backend. On the loopback interface only. */
  readonly healthPort: number;
  /** VRRP's virtual router id, 1 to 255. */
  readonly routerId: number;
}

/** kube-vip as a static pod on every control plane; the virtual address answers at the API servers' own port. */
export interface KubeVipBalancer {
  readonly kind: 'kube-vip';
  readonly address: string;
  readonly port: number;
  readonly image: string;
}

/** haproxy on every node, for that node alone: the endpoint is a port of the loopback interface. */
interface LocalBalancer {
  readonly kind: 'local';
  /** The port at which haproxy listens on 127.0.0.1. */
  readonly port: number;
  /** The port at which haproxy goes on to report to keepalived, while a move leaves keepalived's address. */
  readonly healthPort: number;
}

/** The load balancer of the API servers. `none`: a DNS name that the user keeps, or one control plane. */
export type LoadBalancer =
  { readonly kind: 'none' } | { readonly kind: 'external' } | KeepalivedBalancer | KubeVipBalancer | LocalBalancer;

/** Amounts of a container: Kubernetes quantities, e.g. `100m` and `200Mi`. */
interface Amounts {
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

/** An external etcd that kbuild builds on the hosts of role etcd. */
export interface BuiltEtcd {
  readonly topology: 'built';
  /** Client URLs of these hosts, in the inventory's order. */
  readonly endpoints: readonly string[];
}

/** An etcd that the user runs. */
export interface ExternalEtcd {
  readonly topology: 'external';
  /** Client URLs. */
  readonly endpoints: readonly string[];
  /** PEM texts: the CA of its servers, and the API servers' client certificate with its key. */
  readonly ca: string;
  readonly cert: string;
  readonly key: Secret;
}
