import type { Certificate } from '../facts/linux/certificates.ts';
import type { LinuxFacts } from '../facts/linux.ts';
import type { Inventory } from '../model/inventory.ts';
import { isDue, leftText } from '../shell/expiry.ts';
import { validityOf } from './expiry.ts';

/** Why a certificate is renewed now, as text after "found"; undefined: it is left alone. */
export type Due = (
  host: string,
  certificate: Certificate,
  about: { readonly inventory: Inventory; readonly nowMs: number },
) => string | undefined;

/** Certificates of which little time is left. */
export const nearItsEnd: Due = (_, certificate, { inventory, nowMs }) =>
  isDue(validityOf(certificate), nowMs, inventory.certificates.renewBeforeMs)
    ? leftText(Date.parse(certificate.expires), nowMs)
    : undefined;

const identity = (host: string, { name, serial }: Pick<Certificate, 'name' | 'serial'>): string =>
  [host, name, serial].join(' ');

/**
 * Certificates that an operator wants renewed whatever time is left: those of these names (undefined: all) that are on these hosts now.
 * Those that take their place are left alone.
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
