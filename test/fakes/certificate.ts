import type { Certificate } from '../../src/certificates/certificates.facts.ts';

const YEAR_MS = 365 * 24 * 60 * 60_000;

/** A certificate of kubeadm's that was valid for a year. */
export const certificateOf = (name: string, expires: string, over: Partial<Certificate> = {}): Certificate => ({
  name,
  begins: new Date(Date.parse(expires) - YEAR_MS).toISOString(),
  expires,
  serial: `of ${expires}`,
  subject: name,
  issuer: 'kubernetes',
  names: [],
  ...over,
});
