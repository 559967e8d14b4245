import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  type Authorities,
  authorityCertificate,
  type AuthorityCertificate,
  type AuthorityFiles,
  parseAuthorities,
  type RotatedName,
} from '../../src/certificates/certificates.facts.ts';
import { findProgram } from '../needs/table.ts';

let standIns = 0;

/**
 * A real certificate of an authority, made by openssl; `key`: that of an earlier one. Test files that use it are tagged `openssl`: where
 * it is missing they get a certificate that is never looked at, because vitest loads the files of tests that it skips.
 */
export function madeAuthority(
  subject: string,
  { key, days = 3650 }: { readonly key?: string; readonly days?: number } = {},
): AuthorityCertificate & { readonly key: string } {
  if (findProgram('openssl') === undefined) {
    // Two that follow one another differ.
    standIns += 1;
    const name = standIns % 2 === 0 ? 'leaf.crt' : 'ca.crt';
    const pem = readFileSync(new URL(`../fixtures/authority/${name}`, import.meta.url), 'utf8');
    return { ...authorityCertificate(pem), key: '' };
  }
  const folder = mkdtempSync(join(tmpdir(), 'kbuild-authority-'));
  const own = key ?? join(folder, 'ca.key');
  const openssl = (...args: readonly string[]): void => void execFileSync('openssl', args, { stdio: 'ignore' });
  if (key === undefined) openssl('genpkey', '-algorithm', 'EC', '-pkeyopt', 'ec_paramgen_curve:P-256', '-out', own);
  const crt = join(folder, 'ca.crt');
  openssl('req', '-x509', '-new', '-key', own, '-subj', `/CN=${subject}`, '-days', String(days), '-out', crt);
  return { ...authorityCertificate(readFileSync(crt, 'utf8')), key: own };
}

/** What a host has of authorities: those that a test names, and kubeconfigs with these certificates. */
export const authoritiesWith = (
  files: Partial<Record<RotatedName, Partial<AuthorityFiles>>>,
  more: Partial<Omit<Authorities, 'files'>> = {},
): Authorities => {
  const none = parseAuthorities('');
  const of = (name: RotatedName): AuthorityFiles => ({ ...none.files[name], ...files[name] });
  return {
    ...none,
    ...more,
    files: { ca: of('ca'), 'front-proxy-ca': of('front-proxy-ca'), 'etcd-ca': of('etcd-ca'), sa: of('sa') },
  };
};
