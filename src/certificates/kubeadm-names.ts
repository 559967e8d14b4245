import type { KubeadmAuthority } from './authorities.value.ts';

/**
 * The certificates that `kubeadm certs renew` renews, by their names there, and the authority that signs each
 * (cmd/kubeadm/app/phases/certs/certlist.go).
 */
const SIGNED_BY = {
  apiserver: 'ca',
  'apiserver-kubelet-client': 'ca',
  'admin.conf': 'ca',
  'super-admin.conf': 'ca',
  'controller-manager.conf': 'ca',
  'scheduler.conf': 'ca',
  'front-proxy-client': 'front-proxy-ca',
  'apiserver-etcd-client': 'etcd-ca',
  'etcd-server': 'etcd-ca',
  'etcd-peer': 'etcd-ca',
  'etcd-healthcheck-client': 'etcd-ca',
} as const satisfies Readonly<Record<string, KubeadmAuthority>>;

/** A certificate that kubeadm can renew, as kubeadm calls it. */
export type RenewedName = keyof typeof SIGNED_BY;

/** All of them. */
export const RENEWED_NAMES = Object.keys(SIGNED_BY) as readonly RenewedName[];

/** Who signs a certificate. */
export const authorityOf = (name: RenewedName): KubeadmAuthority => SIGNED_BY[name];
