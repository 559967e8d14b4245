import { KUBEADM_AUTHORITIES } from '../topology/own-authorities.ts';
import type { Certificate } from '../facts/linux/certificates.ts';
import type { LinuxFacts } from '../facts/linux.ts';
import type { Inventory } from '../model/inventory.ts';
import { daysLeft, isDue } from '../shell/expiry.ts';

/**
 * Who renews a certificate. `kbuild`: `up` and `certs renew`. `kubelet`: by itself. `you`: it comes from the inventory, or is an
 * authority's. `nobody`: no program verifies it either (what a kubelet made for itself).
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

/** A certificate whose time to be renewed has come. */
export interface Expiring {
  readonly name: string;
  /** ISO 8601, the day only. */
  readonly day: string;
  /** Whole days until it expires, by the host's clock; negative if it has expired. */
  readonly days: number;
  readonly renewer: Renewer;
}

/** A certificate's time, in ms. */
export const validityOf = ({ begins, expires }: Pick<Certificate, 'begins' | 'expires'>) => ({
  beginsMs: Date.parse(begins),
  endsMs: Date.parse(expires),
});

/**
 * The certificates of a host that it is time to renew, soonest first; not those that no program verifies. @throws FactError if they could not
 * be observed.
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
          `${authorities.join(', ')}: \`kbuild certs renew-ca ${authorities.join(' ')}\` gives an authority a new end (docs/operations.md)`,
        ]
      : []),
  ].join('; ');
}
