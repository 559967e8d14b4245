import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import { appendFileSync, chmodSync, closeSync, mkdirSync, openSync, rmSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { readPlainFile } from '../shell/plain-file.ts';
import { matchesGlob, withoutEnd } from '../shell/text.ts';

/** One usable line of a known_hosts file (sshd(8), "SSH_KNOWN_HOSTS FILE FORMAT"). */
interface KnownHost {
  /** `path:line`, for messages. */
  readonly at: string;
  /** A `@cert-authority` line vouches for certificates, which kbuild does not accept: it never makes a key known. */
  readonly marker: 'none' | 'revoked' | 'cert-authority';
  /** The first field as written: patterns, or one hashed name. */
  readonly names: string;
  /** The patterns of `names` in lower case; none of a hashed name. */
  readonly patterns: readonly string[];
  /** As in the file: an RSA key is `ssh-rsa`, whatever signs with it. */
  readonly keyType: string;
  readonly key: Buffer;
}

/** How the key that a host showed compares with the files. */
type HostKeyVerdict =
  | { readonly kind: 'known' }
  | { readonly kind: 'unknown' }
  /**
   * The host is on file with other keys. Also if only keys of other types are on file: kbuild offered those types
   * first.
   */
  | { readonly kind: 'changed'; readonly at: string; readonly onFile: Buffer }
  | { readonly kind: 'revoked'; readonly at: string };

/** The lines of a known_hosts file; comments and lines that make no sense are skipped, as OpenSSH does. */
export function parseKnownHosts(text: string, file: string): readonly KnownHost[] {
  return text.split(/\r?\n/).flatMap((line, i) => {
    const fields = line.trim().split(/\s+/);
    const marked = fields[0]?.startsWith('@') === true;
    const marker = marked ? fields.shift()!.slice(1) : 'none';
    const [names, keyType, key] = fields;
    if (names === undefined || names.startsWith('#') || keyType === undefined || key === undefined) return [];
    if (marker !== 'none' && marker !== 'revoked' && marker !== 'cert-authority') return [];
    const blob = Buffer.from(key, 'base64');
    if (keyTypeOf(blob) !== keyType) return [];
    const patterns = names.startsWith('|') ? [] : names.toLowerCase().split(',');
    return [{ at: `${file}:${String(i + 1)}`, marker, names, patterns, keyType, key: blob }];
  });
}

/** The type that a public key blob names itself (RFC 4253, 6.6), e.g. `ssh-ed25519`; empty for no key. */
export function keyTypeOf(blob: Buffer): string {
  if (blob.length < 4) return '';
  const length = blob.readUInt32BE(0);
  return length > 64 || blob.length <= 4 + length ? '' : blob.toString('latin1', 4, 4 + length);
}

/** How a host is written in a known_hosts file: the bare name on port 22, else `[name]:port`. */
const knownName = (address: string, port: number): string =>
  port === 22 ? address.toLowerCase() : `[${address.toLowerCase()}]:${String(port)}`;

/**
 * The lines that name a host. On another port than 22, OpenSSH reads the lines of the bare name only if no line has a
 * key for `[host]:port`; and a line of the bare name never makes a key `changed`.
 */
interface LinesForHost {
  /** Lines of `host` on port 22, else of `[host]:port`. */
  readonly exact: readonly KnownHost[];
  /** Lines of `host` where the port is not 22. */
  readonly bare: readonly KnownHost[];
}

/** Selects a host's lines, in the files' order. Costs one HMAC per hashed line. */
type Lookup = (address: string, port: number) => LinesForHost;

/** Indexes lines by name, because a fleet looks up every host: only patterns and hashes are matched one by one. */
export function lookup(lines: readonly KnownHost[]): Lookup {
  const byName = new Map<string, Set<number>>();
  const matched: number[] = [];
  for (const [i, { names, patterns }] of lines.entries()) {
    if (/^\||[*?!]/.test(names)) matched.push(i);
    else for (const name of patterns) byName.set(name, (byName.get(name) ?? new Set()).add(i));
  }
  const about = (name: string): readonly KnownHost[] =>
    [...(byName.get(name) ?? []), ...matched.filter((i) => speaksOf(lines[i]!, name))]
      .sort((a, b) => a - b)
      .map((i) => lines[i]!);
  return (address, port) => ({
    exact: about(knownName(address, port)),
    bare: port === 22 ? [] : about(knownName(address, 22)),
  });
}

/** Key types on file for a host under its name and port, in the files' order: offered first, as by OpenSSH. */
export const keyTypesOnFile = ({ exact }: LinesForHost): readonly string[] => [
  ...new Set(exact.filter(({ marker }) => marker === 'none').map(({ keyType }) => keyType)),
];

/** Where an authority is trusted to sign the host's certificates; undefined when none is. */
export const authorityFor = ({ exact, bare }: LinesForHost): string | undefined =>
  [...exact, ...bare].find(({ marker }) => marker === 'cert-authority')?.at;

/**
 * Judges the key that a host showed, as OpenSSH does. One difference: a key that is revoked under the bare name is
 * refused on every port; OpenSSH reads that line only where `[host]:port` has no key.
 */
export function verdict({ exact, bare }: LinesForHost, key: Buffer): HostKeyVerdict {
  const revoked = [...exact, ...bare].find((line) => line.marker === 'revoked' && line.key.equals(key));
  if (revoked !== undefined) return { kind: 'revoked', at: revoked.at };
  const own = exact.filter(({ marker }) => marker === 'none');
  const counting = own.length > 0 ? own : bare.filter(({ marker }) => marker === 'none');
  if (counting.some((line) => line.key.equals(key))) return { kind: 'known' };
  const other = own.find(({ keyType }) => keyType === keyTypeOf(key)) ?? own[0];
  return other === undefined ? { kind: 'unknown' } : { kind: 'changed', at: other.at, onFile: other.key };
}

function speaksOf({ names, patterns }: KnownHost, name: string): boolean {
  if (names.startsWith('|')) return isHashOf(names, name);
  const matches = (pattern: string) => wildcard(pattern, name);
  // A negated pattern that matches rules the whole line out.
  if (patterns.some((pattern) => pattern.startsWith('!') && matches(pattern.slice(1)))) return false;
  return patterns.some((pattern) => !pattern.startsWith('!') && matches(pattern));
}

function isHashOf(names: string, name: string): boolean {
  const [, magic, salt, hash] = names.split('|');
  if (magic !== '1' || salt === undefined || hash === undefined) return false;
  const expected = Buffer.from(hash, 'base64');
  const actual = createHmac('sha1', Buffer.from(salt, 'base64')).update(name).digest();
  return expected.length === actual.length && timingSafeEqual(expected, actual);
}

/** `*` and `?` as OpenSSH has them. */
export const wildcard = (pattern: string, name: string): boolean => matchesGlob(pattern, name, { single: true });

/**
 * Finds a host's lines in these files; a missing file has no lines. @throws the system's error for a file that cannot
 * be read
 */
export type KnownHostsReader = (files: readonly string[]) => Lookup;

/**
 * Reads a file when a connection first needs it, and again only after it has changed: each connection needs the files.
 */
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
