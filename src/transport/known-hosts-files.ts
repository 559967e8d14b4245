import { createHash } from 'node:crypto';
import { appendFileSync, chmodSync, closeSync, mkdirSync, openSync, rmSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { keyTypeOf, knownName, lookup, parseKnownHosts, type Lookup } from './known-hosts.ts';
import { readPlainFile } from '../shell/plain-file.ts';
import { withoutEnd } from '../shell/text.ts';

/** Finds a host's lines in these files; a missing file has no lines. @throws the system's error for a file that cannot be read */
export type KnownHostsReader = (files: readonly string[]) => Lookup;

/** Reads a file when a connection first needs it, and again only after it has changed: each connection needs the files. */
export function knownHostsReader(): KnownHostsReader {
  const known = new Map<string, { readonly version: string; readonly found: Lookup }>();
  return (files) => {
    const version = files.map(versionOf).join('\n');
    const key = files.join('\0');
    const before = known.get(key);
    if (before?.version === version) return before.found;
    const found = lookup(files.flatMap((file) => parseKnownHosts(textOf(file), file)));
    known.set(key, { version, found });
    return found;
  };
}

function versionOf(file: string): string {
  const stat = statSync(file, { bigint: true, throwIfNoEntry: false });
  return stat === undefined ? 'none' : [stat.dev, stat.ino, stat.size, stat.mtimeNs].join(' ');
}

function textOf(file: string): string {
  try {
    return readPlainFile(file).toString();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return '';
    throw error;
  }
}

/** A lock that is older than this, in ms, was left by a process that died: a living one holds it for far less. */
const STALE_MS = 5000;

/** Calls `write` while no other kbuild does, for this file; where no lock can be made, all the same. */
function alone(file: string, write: () => void): void {
  const lock = `${file}.kbuild-lock`;
  for (;;) {
    try {
      mkdirSync(lock);
      break;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') {
        write();
        return;
      }
      const since = statSync(lock, { throwIfNoEntry: false })?.mtimeMs ?? Date.now();
      if (Date.now() - since > STALE_MS) rmSync(lock, { recursive: true, force: true });
      else Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 5);
    }
  }
  try {
    write();
  } finally {
    rmSync(lock, { recursive: true, force: true });
  }
}

/**
 * Records a host's key with one append, so that writers at the same time cannot tear each other's lines. The file is
 * made 0600. A line that is already there is not added again.
 */
export function recordHostKey(file: string, address: string, port: number, key: Buffer): void {
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  alone(file, () => {
    const before = textOf(file);
    const line = `${knownName(address, port)} ${keyTypeOf(key)} ${key.toString('base64')}`;
    if (before.split(/\r?\n/).includes(line)) return;
    if (before === '') {
      closeSync(openSync(file, 'a', 0o600));
      chmodSync(file, 0o600);
    }
    appendFileSync(file, `${before === '' || before.endsWith('\n') ? '' : '\n'}${line}\n`);
  });
}

/** As OpenSSH prints it: `SHA256:` and unpadded base64. */
export const fingerprint = (key: Buffer): string =>
  `SHA256:${withoutEnd(createHash('sha256').update(key).digest('base64'), '=')}`;
