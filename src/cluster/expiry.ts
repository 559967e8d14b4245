import type { LinuxFacts } from '../facts/linux.ts';
import type { Inventory } from '../model/inventory.ts';
import { signingAuthority } from '../configuration/signing.ts';
import { daysLeft, RENEWED_AT_DAYS } from '../shell/expiry.ts';

/** A certificate that expires within 30 days. */
export interface Expiring {
  readonly name: string;
  /** ISO 8601, the day only. */
  readonly day: string;
  /** Whole days until it expires, by the host's clock; negative if it has expired. */
  readonly days: number;
}

/** The certificates of a host that expire soon, soonest first. @throws FactError if they could not be observed. */
export const expiring = ({ certificates, nowMs }: Pick<LinuxFacts, 'certificates' | 'nowMs'>): readonly Expiring[] =>
  certificates
    .map(({ name, expires }) => ({
      name,
      day: expires.slice(0, 10),
      days: daysLeft(Date.parse(expires), nowMs),
    }))
    .filter(({ days }) => days <= RENEWED_AT_DAYS)
    .sort((a, b) => a.days - b.days);

/** A certificate and its expiry as text for a message. */
export const expiringText = ({ name, day, days }: Expiring): string =>
  `${name} ${days < 0 ? `expired on ${day}` : `expires in ${String(days)} days (${day})`}`;

const AUTHORITIES: ReadonlySet<string> = new Set(['ca', 'etcd-ca', 'front-proxy-ca']);

/** Who renews the certificates: their authority, the kubelet, `up`, or kubeadm. As text for a message. */
export function renewal(inventory: Inventory, found: readonly Expiring[]): string {
  const names = new Set(found.map(({ name }) => name));
  if ([...names].some((name) => AUTHORITIES.has(name)))
    return 'an authority is among them, which kubeadm does not renew: plan its exchange now (kubernetes.io, "Manual Rotation of CA Certificates")';
  if ([...names].every((name) => name === 'kubelet-client'))
    return 'the kubelet renews it by itself, and has not: journalctl -u kubelet says why';
  if (signingAuthority(inventory) !== undefined) return '`kbuild up` has them signed anew';
  return 'run `kubeadm certs renew all` on each control plane and restart its static pods, one control plane after the other: docs/operations.md, "Certificates"';
}
