import { readFileSync } from 'node:fs';
import { spkiFingerprint } from '../../src/certificates/fingerprint.value.ts';

/** A certificate authority for tests: what a join leaves must be a certificate. */
export function testCa(): { readonly pem: string; readonly fingerprint: string } {
  const pem = readFileSync(new URL('../fixtures/authority/ca.crt', import.meta.url), 'utf8');
  return { pem, fingerprint: spkiFingerprint(pem) };
}
