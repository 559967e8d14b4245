import type { Authority, OwnAuthorities } from '../inventory/control-plane.ts';
import type { Inventory } from '../inventory/inventory.ts';

/** Default validity of certificates and authorities, from kubeadm (`v1beta4/defaults.go`). */
export const VALIDITY_PERIODS = { certificateValidityPeriod: '8760h', caCertificateValidityPeriod: '87600h' } as const;

/** Seconds of Go's units that kubeadm's examples use. */
const UNIT_S: Readonly<Record<string, number>> = { h: 3600, m: 60, s: 1 };

/** Seconds of a duration of Go like `8760h0m0s`; undefined if the value is not one. */
export const secondsOf = (period: unknown): number | undefined =>
  typeof period === 'string' && /^(?:\d+[hms])+$/.test(period)
    ? [...period.matchAll(/(?<!\d)(\d+)([hms])/g)].reduce(
        (sum, [, count, unit]) => sum + Number(count) * UNIT_S[unit!]!,
        0,
      )
    : undefined;

/** The setting below `certificates` that brings each of kubeadm's authorities. */
export const AUTHORITY_SETTINGS = {
  ca: 'ca',
  'etcd-ca': 'etcdCa',
  'front-proxy-ca': 'frontProxyCa',
} as const satisfies Readonly<Record<string, keyof OwnAuthorities>>;

/** One of kubeadm's authorities, as facts and `kbuild certs` call it. */
export type KubeadmAuthority = keyof typeof AUTHORITY_SETTINGS;

/** All of them. */
export const KUBEADM_AUTHORITIES = Object.keys(AUTHORITY_SETTINGS) as readonly KubeadmAuthority[];

type WithCertificates = Pick<Inventory, 'certificates'>;

/** The user's own authority; undefined if kubeadm makes it, and for `sa`, which is no authority. */
export const ownAuthority = (
  { certificates }: WithCertificates,
  name: KubeadmAuthority | 'sa',
): Authority | undefined => (name === 'sa' ? undefined : certificates[AUTHORITY_SETTINGS[name]]);

/** True if a command signs for the authority: then no host has its key. */
export function signsByCommand(inventory: WithCertificates, name: KubeadmAuthority): boolean {
  const own = ownAuthority(inventory, name);
  return own !== undefined && 'sign' in own;
}

/** True if a command signs for any of them. */
export const signsAnyByCommand = (inventory: WithCertificates): boolean =>
  KUBEADM_AUTHORITIES.some((name) => signsByCommand(inventory, name));

/** The setting, as messages name it. */
export const settingOf = (name: KubeadmAuthority): string => `certificates.${AUTHORITY_SETTINGS[name]}`;

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
