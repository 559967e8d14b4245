import type { LinuxFacts } from '../cluster/fleet/linux.ts';
import type { Inventory } from '../inventory/inventory.ts';
import { docsPage } from '../versions.ts';
import { KUBEADM_AUTHORITIES } from './authorities.value.ts';
import type { Certificate } from './certificates.facts.ts';
import { daysLeft, isDue, leftText } from './validity.value.ts';

/**
 * The program or person that renews a certificate. `kbuild`: `up` and `certs renew`. `kubelet`: its own certificate.
 * `you`: a certificate from the inventory, or of an authority. `nobody`: no program verifies it either (what a kubelet
 * made for itself).
 */
export type Renewer = 'kbuild' | 'kubelet' | 'you' | 'nobody';

const AUTHORITIES: ReadonlySet<string> = new Set(KUBEADM_AUTHORITIES);

/** Certificates that the inventory brings, if etcd is the user's own. */
const OF_YOUR_ETCD: ReadonlySet<string> = new Set(['etcd-ca', 'apiserver-etcd-client']);

/** Who renews the certificate of this name. */
export function renewerOf({ etcd }: Pick<Inventory, 'etcd'>, name: string): Renewer {
  if (name === 'kubelet-client' || name === 'kubelet-server') return 'kubelet';
  if (name === 'kubelet') return 'nobody';
  return AUTHORITIES.has(name) || (etcd.topology === 'external' && OF_YOUR_ETCD.has(name)) ? 'you' : 'kbuild';
}

/** A certificate that is due for renewal. */
export interface Expiring {
  readonly name: string;
  /** ISO 8601, the day only. */
  readonly day: string;
  /** Whole days until it expires, by the host's clock; negative if it has expired. */
  readonly days: number;
  readonly renewer: Renewer;
}

/** Validity of a certificate, in ms since the epoch. */
const validityOf = ({ begins, expires }: Pick<Certificate, 'begins' | 'expires'>) => ({
  beginsMs: Date.parse(begins),
  endsMs: Date.parse(expires),
});

/**
 * The certificates of a host that are due for renewal, soonest expiry first. Without certificates that no program
 * verifies. @throws FactError if they could not be observed.
 */
export const expiring = (
  inventory: Inventory,
  { certificates, nowMs }: Pick<LinuxFacts, 'certificates' | 'nowMs'>,
): readonly Expiring[] =>
  certificates
    .filter((one) => isDue(validityOf(one), nowMs, inventory.certificates.renewBeforeMs))
    .map(({ name, expires }) => ({
      name,
      day: expires.slice(0, 10),
      days: daysLeft(Date.parse(expires), nowMs),
      renewer: renewerOf(inventory, name),
    }))
    .filter(({ renewer }) => renewer !== 'nobody')
    .sort((a, b) => a.days - b.days);

/** A certificate and its expiry as text for a message. */
export const expiringText = ({ name, day, days }: Pick<Expiring, 'name' | 'day' | 'days'>): string =>
  `${name} ${days < 0 ? `expired on ${day}` : `expires in ${String(days)} days (${day})`}`;

/** How these certificates are renewed, as text for a message. */
export function renewal(found: readonly Expiring[]): string {
  const of = (renewer: Renewer): readonly string[] => [
    ...new Set(found.filter((one) => one.renewer === renewer).map(({ name }) => name)),
  ];
  const yours = of('you');
  const authorities = yours.filter((name) => AUTHORITIES.has(name));
  const files = yours.filter((name) => !AUTHORITIES.has(name));
  return [
    ...(of('kbuild').length > 0
      ? ['`kbuild up` renews what kubeadm made; `kbuild certs renew` renews that and nothing else']
      : []),
    ...(of('kubelet').length > 0
      ? [`the kubelet renews ${of('kubelet').join(' and ')} by itself, and has not: journalctl -u kubelet says why`]
      : []),
    ...(files.length > 0
      ? [`${files.join(', ')}: put a new one into the inventory (etcd), then run \`kbuild up\``]
      : []),
    ...(authorities.length > 0
      ? [
          `${authorities.join(', ')}: \`kbuild certs renew-ca ${authorities.join(' ')}\` gives an authority a ` +
            `new end: ${docsPage('operations.md#a-new-end-for-an-authority')}`,
        ]
      : []),
  ].join('; ');
}

/** The reason why kbuild renews a certificate now, as text after "found"; undefined if it does not. */
export type Due = (
  host: string,
  certificate: Certificate,
  about: { readonly inventory: Inventory; readonly nowMs: number },
) => string | undefined;

/** Certificates that expire soon. */
export const nearItsEnd: Due = (_, certificate, { inventory, nowMs }) =>
  isDue(validityOf(certificate), nowMs, inventory.certificates.renewBeforeMs)
    ? leftText(Date.parse(certificate.expires), nowMs)
    : undefined;

const identity = (host: string, { name, serial }: Pick<Certificate, 'name' | 'serial'>): string =>
  [host, name, serial].join(' ');

/**
 * Certificates that the operator wants to renew regardless of their expiry: those of these names (undefined: all) that
 * are on these hosts now. Does not match the new certificates that replace them.
 */
export function asked(
  hosts: readonly { readonly host: { readonly name: string }; readonly facts: Pick<LinuxFacts, 'certificates'> }[],
  names: readonly string[] | undefined,
): Due {
  const found = new Set(
    hosts.flatMap(({ host, facts }) =>
      facts.certificates
        .filter(({ name }) => names === undefined || names.includes(name))
        .map((one) => identity(host.name, one)),
    ),
  );
  return (host, certificate, { nowMs }) =>
    found.has(identity(host, certificate)) ? leftText(Date.parse(certificate.expires), nowMs) : undefined;
}
