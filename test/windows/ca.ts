import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { spkiFingerprint } from '../../src/shell/fingerprint.ts';

/** A certificate authority of a test's own: what a join leaves must be a certificate. */
export function testCa(): { readonly pem: string; readonly fingerprint: string } {
  const folder = mkdtempSync(join(tmpdir(), 'kbuild-ca-'));
  const file = join(folder, 'ca.crt');
  const request = ['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes'];
  const out = ['-subj', '/CN=kubernetes', '-keyout', join(folder, 'ca.key'), '-out', file];
  execFileSync('openssl', [...request, ...out], { stdio: 'pipe' });
  const pem = readFileSync(file, 'utf8');
  rmSync(folder, { recursive: true });
  return { pem, fingerprint: spkiFingerprint(pem) };
}
