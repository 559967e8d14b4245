import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A home of the real gpg. */
export interface GpgHome {
  readonly gpg: (...args: readonly string[]) => Buffer;
  /** Runs gpg with a file on its standard input. */
  readonly read: (input: Buffer, ...args: readonly string[]) => string;
  /** Of all primary keys, in the order in which they were made. */
  readonly fingerprints: () => readonly string[];
  /** Revokes a key, with the certificate that gpg made beside it. */
  readonly revoke: (fingerprint: string) => void;
  readonly remove: () => void;
}

/** Makes an empty home; `remove` ends gpg's agent too. */
export function gpgHome(): GpgHome {
  const home = mkdtempSync(join(tmpdir(), 'kbuild-gpg-'));
  const options = ['--homedir', home, '--batch', '--quiet'];
  const gpg = (...args: readonly string[]): Buffer =>
    execFileSync('gpg', [...options, ...args], { stdio: ['ignore', 'pipe', 'ignore'] });
  const read = (input: Buffer, ...args: readonly string[]): string =>
    execFileSync('gpg', [...options, ...args], { input, stdio: ['pipe', 'pipe', 'ignore'] }).toString();
  return {
    gpg,
    read,
    revoke(fingerprint) {
      const certificate = readFileSync(join(home, 'openpgp-revocs.d', `${fingerprint}.rev`), 'utf8');
      // A colon before its first line keeps it from being used by mistake.
      read(Buffer.from(certificate.replace(/^:-/m, '-')), '--import');
    },
    fingerprints: () =>
      gpg('--with-colons', '--list-keys')
        .toString()
        .split(/^pub:/m)
        .slice(1)
        .map((block) => /^fpr:+([0-9A-F]+):/m.exec(block)![1]!),
    remove() {
      execFileSync('gpgconf', ['--homedir', home, '--kill', 'all'], { stdio: 'ignore' });
      rmSync(home, { recursive: true });
    },
  };
}
