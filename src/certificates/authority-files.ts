import { createPublicKey } from 'node:crypto';
import { hostPort } from '../inventory/addresses.ts';
import { apiPort, kubectl } from '../inventory/api-server.ts';
import type { Inventory, LinuxHost } from '../inventory/inventory.ts';
import { hasKubeletAuthority } from '../kubeadm/kubelet-serving.value.ts';
import { withRuntime } from '../runtime/runtimes.value.ts';
import type { Command } from '../shell/command.ts';
import { Secret } from '../shell/secret.ts';
import { script } from '../templates.ts';
import { type KubeadmAuthority, secondsOf, VALIDITY_PERIODS } from './authorities.value.ts';
import {
  AUTHORITY_FILES,
  type AuthorityCertificate,
  keyId,
  ROTATED_FILES,
  type RotatedName,
  trustedEnd,
} from './certificates.facts.ts';

const DAY_S = 86_400;

/** Validity of a new certificate of an authority in whole days, at least one: `caCertificateValidityPeriod`. */
function authorityDays({ kubeadm }: Pick<Inventory, 'kubeadm'>): number {
  const { caCertificateValidityPeriod } = { ...VALIDITY_PERIODS, ...kubeadm.cluster };
  return Math.max(1, Math.floor((secondsOf(caCertificateValidityPeriod) ?? 0) / DAY_S));
}

/**
 * Options of `openssl genpkey` for a key of the kind that the certificate, or the public key, has. Throws on a kind
 * that kubeadm does not make.
 */
function sameKindOfKey({ pem }: AuthorityCertificate): string {
  const { asymmetricKeyType, asymmetricKeyDetails } = createPublicKey(pem);
  if (asymmetricKeyType === 'rsa')
    return `-algorithm RSA -pkeyopt rsa_keygen_bits:${String(asymmetricKeyDetails?.modulusLength ?? 2048)}`;
  const curves: Readonly<Record<string, string>> = { prime256v1: 'P-256', secp384r1: 'P-384' };
  const curve = curves[asymmetricKeyDetails?.namedCurve ?? ''];
  if (asymmetricKeyType === 'ec' && curve !== undefined) return `-algorithm EC -pkeyopt ec_paramgen_curve:${curve}`;
  throw new TypeError(`kbuild does not know how to make a key like that of ${asymmetricKeyType ?? 'the authority'}`);
}

/** The job that prints a certificate with a new expiry for an authority's key. `serial`: hexadecimal. */
export const renewedAuthority = (inventory: Inventory, name: KubeadmAuthority, serial: string): Command<'sh'> =>
  script('certificates/make-authority.sh', {
    HOW: 'renewed',
    NAME: AUTHORITY_FILES[name],
    DAYS: authorityDays(inventory),
    SERIAL: serial,
    SUBJECT: '',
    GENERATE: '',
  });

/**
 * The job that makes an authority with a new key, of the type of the old key, and puts it beside the old one. kubeadm
 * ends with a panic where the key of service accounts and the first public key are of two kinds
 * (`TryLoadPrivatePublicKeyFromDisk` in pkiutil).
 */
export const newAuthority = (
  inventory: Inventory,
  name: RotatedName,
  { old, subject }: { readonly old: AuthorityCertificate; readonly subject: string },
): Command<'sh'> =>
  script('certificates/make-authority.sh', {
    HOW: name === 'sa' ? 'key' : 'new',
    NAME: ROTATED_FILES[name],
    DAYS: authorityDays(inventory),
    SERIAL: '',
    SUBJECT: subject,
    GENERATE: sameKindOfKey(old),
  });

/** Kubeconfigs of a host that hold the certificate of the cluster's CA. */
export const KUBECONFIGS: readonly string[] = [
  'admin.conf',
  'super-admin.conf',
  'controller-manager.conf',
  'scheduler.conf',
  'kubelet.conf',
];

/** The static pods of a control plane that read an authority's file only when they start. */
export function readersOf({ kubeadm, etcd, loadBalancer }: Inventory, name: RotatedName): readonly string[] {
  switch (name) {
    case 'ca':
      return [
        'kube-controller-manager',
        'kube-scheduler',
        ...(loadBalancer.kind === 'kube-vip' ? ['kube-vip'] : []),
        ...(hasKubeletAuthority(kubeadm.cluster) ? ['kube-apiserver'] : []),
      ];
    case 'front-proxy-ca':
      return [];
    case 'etcd-ca':
      return [...(etcd.topology === 'stacked' ? ['etcd'] : []), 'kube-apiserver'];
    case 'sa':
      return ['kube-apiserver'];
  }
}

/** The certificates that a host must trust as an authority, and the components that restart for them. */
export interface Placement {
  readonly name: KubeadmAuthority;
  /** In the order of the file. */
  readonly bundle: readonly AuthorityCertificate[];
  /** The authority that signs from now on, if it changes. */
  readonly signer?: 'old' | 'fresh';
  /** Components that restart. */
  readonly pods: readonly string[];
  /** True if the kubelet restarts. */
  readonly restartsKubelet: boolean;
  /** Common names of authorities that no port may name any more. */
  readonly withdrawn?: readonly string[];
}

/** Ports of a host that ask clients for certificates of the cluster's CA. */
const shownBy = (inventory: Inventory, { role, internalAddress }: LinuxHost): readonly string[] =>
  [...(role === 'control-plane' ? [apiPort(inventory)] : []), 10250].map((port) => hostPort(internalAddress, port));

/** The job that makes a host trust these certificates. Its files come from `placementFiles`. */
export function placeAuthority(inventory: Inventory, host: LinuxHost, placement: Placement): Command<'sh'> {
  const { name, bundle, signer = '', pods, restartsKubelet, withdrawn = [] } = placement;
  const isCluster = name === 'ca';
  return withRuntime(
    inventory,
    host,
    script('certificates/place-authority.sh', {
      NAME: AUTHORITY_FILES[name],
      BEGINS: Math.ceil(Math.max(0, ...bundle.map(({ beginsMs }) => beginsMs)) / 1000),
      SIGNER: signer === 'fresh' ? 'new' : signer,
      CONFS: isCluster ? KUBECONFIGS : '',
      PODS: pods,
      KUBELET: restartsKubelet ? 'yes' : '',
      SHOWN: isCluster ? shownBy(inventory, host) : '',
      OFFERED: isCluster ? bundle.map(({ subject }) => subject) : '',
      WITHDRAWN: isCluster ? withdrawn : '',
    }),
  );
}

/** Certificates or public keys as the text of one file. */
export const pemOf = (all: readonly AuthorityCertificate[]): string => all.map(({ pem }) => pem).join('');

/** The files of the job that places these certificates. */
export const placementFiles = (bundle: readonly AuthorityCertificate[]): Readonly<Record<string, Secret>> => ({
  'bundle.crt': Secret.of(pemOf(bundle)),
});

/**
 * The files that a control plane keeps beside an authority's file at the start of a rotation. For the key of service
 * accounts, a later job records which key signs, when it does.
 */
export const keptBeside = (name: RotatedName): readonly ('old' | 'signing')[] =>
  name === 'sa' ? ['old'] : ['old', 'signing'];

/**
 * The job that copies the current authority with its key to each of `keptBeside`, and puts the new authority beside it.
 * Files: `new.crt` (of the key of service accounts `new.pub`) and `new.key`, if this host did not make it.
 */
export const keepAuthority = (name: RotatedName): Command<'sh'> =>
  script('certificates/keep-authority.sh', {
    NAME: ROTATED_FILES[name],
    END: trustedEnd(name),
    KEPT: keptBeside(name),
  });

/** The key of service accounts with which a control plane signs from now on. */
export interface KeySigner {
  readonly signer: 'old' | 'fresh';
  readonly signs: AuthorityCertificate;
  /** The key with which it signed until now. */
  readonly signed: AuthorityCertificate;
}

/**
 * The job that lets a control plane accept tokens of these keys, and optionally sign with another one. Its files come
 * from `keyFiles`.
 */
export const placeServiceAccountKey = (
  inventory: Inventory,
  host: LinuxHost,
  bundle: readonly AuthorityCertificate[],
  signing?: KeySigner,
): Command<'sh'> =>
  withRuntime(
    inventory,
    host,
    script('certificates/place-service-account-key.sh', {
      SIGNER: signing === undefined ? '' : signing.signer === 'fresh' ? 'new' : 'old',
      KUBECTL: kubectl(inventory, host),
      TRUSTED: bundle.map(keyId),
      SIGNS: signing === undefined ? '' : keyId(signing.signs),
    }),
  );

/** The files of that job. */
export const keyFiles = (
  bundle: readonly AuthorityCertificate[],
  signing?: KeySigner,
): Readonly<Record<string, Secret>> => ({
  'sa.pub': Secret.of(pemOf(bundle)),
  ...(signing === undefined
    ? {}
    : { 'signs.pub': Secret.of(signing.signs.pem), 'signed.pub': Secret.of(signing.signed.pem) }),
});
