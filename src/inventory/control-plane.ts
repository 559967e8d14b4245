import type { Secret } from '../shell/secret.ts';

/** How control planes get the certificates that they share, and the user's own CA with its key, if there is one. */
export interface Certificates {
  /** `copy`: from one host to the other, through memory. `upload`: through an encrypted Secret of the cluster. */
  readonly distribution: 'upload' | 'copy';
  /** PEM texts; their pair was checked. */
  readonly ca?: { readonly cert: string; readonly key: Secret };
}

/** haproxy and keepalived with a virtual address, built by kbuild. */
export interface KeepalivedBalancer {
  readonly kind: 'keepalived';
  /** The virtual address (IPv4). */
  readonly address: string;
  /** Where haproxy listens. */
  readonly port: number;
  /** Where haproxy tells the host itself that it has a backend; on the loopback interface only. */
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

/** What stands before the API servers. `none`: a name that the user keeps, or one control plane. */
export type LoadBalancer =
  { readonly kind: 'none' } | { readonly kind: 'external' } | KeepalivedBalancer | KubeVipBalancer;
