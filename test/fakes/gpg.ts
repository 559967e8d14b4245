import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A home of the real gpg. */
export interface GpgHome {
  readonly gpg: (...args: readonly string[]) => Buffer;
  /** Runs gpg with a file on its standard input. */
  readonly read: (input: Buffer, ...args: readonly string[]) => string;
  /** Of all primary keys, in the order in which they were made. */
  readonly fingerprints: () => readonly string[];
  readonly remove: () => void;
}

/** Makes an empty home; `remove` ends gpg's agent too. */
export function gpgHome(): GpgHome {
  const home = mkdtempSync(join(tmpdir(), 'kbuild-gpg-'));
  const options = ['--homedir', home, '--batch', '--quiet'];
  const gpg = (...args: readonly string[]): Buffer =>
    execFileSync('gpg', [...options, ...args], { stdio: ['ignore', 'pipe', 'ignore'] });
  return {
    gpg,
    read: (input, ...args) =>
      execFileSync('gpg', [...options, ...args], { input, stdio: ['pipe', 'pipe', 'ignore'] }).toString(),
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
