import { createHash } from 'node:crypto';
import { appendFileSync, chmodSync, closeSync, mkdirSync, openSync, readFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { keyTypeOf, knownName, parseKnownHosts, type KnownHost } from './known-hosts.ts';

/** All lines of the files; a file that is not there has none. @throws the system's error for one that cannot be read. */
export const readKnownHosts = (files: readonly string[]): readonly KnownHost[] =>
  files.flatMap((file) => parseKnownHosts(textOf(file), file));

function textOf(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return '';
    throw error;
  }
}

/**
 * Records a host's key with one append, so that writers at the same time cannot tear each other's lines. The file is
 * made 0600. A line that is already there is not added again.
 */
export function recordHostKey(file: string, address: string, port: number, key: Buffer): void {
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  const before = textOf(file);
  const line = `${knownName(address, port)} ${keyTypeOf(key)} ${key.toString('base64')}`;
  if (before.split(/\r?\n/).includes(line)) return;
  if (before === '') {
    closeSync(openSync(file, 'a', 0o600));
    chmodSync(file, 0o600);
  }
  appendFileSync(file, `${before === '' || before.endsWith('\n') ? '' : '\n'}${line}\n`);
}

/** As OpenSSH prints it: `SHA256:` and unpadded base64. */
export const fingerprint = (key: Buffer): string =>
  `SHA256:${createHash('sha256').update(key).digest('base64').replace(/=+$/, '')}`;
