import { readdirSync } from 'node:fs';
import { userInfo } from 'node:os';
import { basename, dirname, join, resolve } from 'node:path';
import type { SshSettings } from '../inventory/host-settings.ts';
import { readPlainFile } from '../shell/plain-file.ts';
import { wildcard } from './known-hosts.ts';

/** The settings that `ssh -G` prints for a name, keywords in lower case. */
export type Answer = ReadonlyMap<string, readonly string[]>;

/** Stands for a setting that the configuration does not have: `ssh -G` fills in defaults, which are not kbuild's. */
export const UNSET = '/kbuild-unset';
/** The same, for a user. */
export const UNSET_USER = 'kbuild-unset';

/** Parses what `ssh -G` printed for `name`. */
export function answerOf(text: string, name: string): Answer {
  const found = new Map<string, string[]>();
  for (const line of text.split('\n')) {
    const [, keyword, value] = /^(\S+) (.*)$/.exec(line) ?? [];
    if (keyword !== undefined) found.set(keyword, [...(found.get(keyword) ?? []), value!]);
  }
  found.set('kbuild-asked', [name]);
  found.set('kbuild-same', [found.get('hostname')?.[0]?.toLowerCase() === name.toLowerCase() ? 'yes' : 'no']);
  return found;
}

/** The values that the configuration really gives: neither `unset`, which stands for none, nor `none`. */
export const set = (values: readonly string[] | undefined, unset: string): readonly string[] =>
  (values ?? []).filter((value) => value !== unset && value !== 'none');

/** The settings of a name: the inventory's, and the configuration's where the inventory has none. */
export function withAnswer<S extends SshSettings>(ssh: S, answer: Answer, name: string, home: string): S {
  const open = new Set(ssh.open);
  const user = set(answer.get('user'), UNSET_USER)[0];
  const alias = set(answer.get('hostkeyalias'), '')[0];
  const port = Number(answer.get('port')?.[0] ?? 22);
  const hostname = answer.get('kbuild-same')?.[0] === 'yes' ? name : (answer.get('hostname')?.[0] ?? name);
  const tokens: Readonly<Record<string, string>> = {
    '%': '%',
    d: home,
    h: hostname,
    k: alias ?? name,
    n: name,
    p: String(open.has('port') ? port : ssh.port),
    r: open.has('user') && user !== undefined ? user : ssh.user,
    u: userInfo().username,
  };
  // ssh -G leaves them as they stand, in identity files; a token that is not known here stays.
  const path = (value: string): string =>
    value.replace(/^~(?=\/)/, home).replaceAll(/%(.)/g, (whole, token: string) => tokens[token] ?? whole);
  const identities = set(answer.get('identityfile'), UNSET).map(path);
  const known = set(answer.get('userknownhostsfile'), UNSET)
    .flatMap((value) => value.split(' '))
    .map(path);
  return {
    ...ssh,
    ...(open.has('user') && user !== undefined ? { user } : {}),
    ...(open.has('port') ? { port } : {}),
    ...(open.has('identityFiles') && identities.length > 0 ? { identityFiles: identities } : {}),
    ...(open.has('knownHostsFiles') && known.length > 0
      ? { knownHostsFiles: [...known, ...ssh.knownHostsFiles.slice(1)] }
      : {}),
    ...(alias === undefined ? {} : { hostKeyAlias: alias }),
  };
}

/** OpenSSH follows includes this deep. */
const MAX_DEPTH = 16;

/**
 * How an SSH configuration sees hosts: two names of the same class match the same `Host` lines, so that one answer of
 * `ssh -G` serves both. undefined when the files have a `Match` line, or a known_hosts file
 * named after the host: these may differ for every host.
 */
export type ClassOf = ((name: string) => string) | undefined;

/** Reads the `Host` lines of configuration files and of what they include. Files that cannot be read have none. */
export function configClasses(files: readonly string[], home: string): ClassOf {
  const lines = files.flatMap((file) => linesOf(file, home, 0));
  if (lines.some(([keyword, value]) => keyword === 'match' && !/^all$/i.test(value))) return undefined;
  // ssh fills in these itself, unlike those of identity files.
  if (lines.some(([keyword, value]) => keyword === 'userknownhostsfile' && /%[Chkn]/.test(value))) return undefined;
  const hosts = lines.filter(([keyword]) => keyword === 'host').map(([, value]) => value.split(/\s+/));
  return (name) => hosts.map((patterns) => (matches(patterns, name) ? '1' : '0')).join('');
}

type Line = readonly [keyword: string, value: string];

/**
 * The keyword of a line, in lower case, and its value; empty where there is none. Takes a time that grows with the
 * line's length alone.
 */
function partsOf(line: string): { readonly keyword: string; readonly value: string } {
  const text = line.trim();
  const keyword = /^[A-Za-z]*/.exec(text)![0];
  const value = text.slice(keyword.length);
  // OpenSSH lets blanks, or one `=` among blanks, stand between them.
  return /^[^\s=]/.test(value)
    ? { keyword: '', value: '' }
    : { keyword: keyword.toLowerCase(), value: value.replace(/^\s*=?\s*/, '') };
}

function linesOf(file: string, home: string, depth: number): readonly Line[] {
  let text: string;
  try {
    text = readPlainFile(file).toString();
  } catch {
    return [];
  }
  return text.split('\n').flatMap((line): readonly Line[] => {
    const { keyword, value } = partsOf(line);
    if (keyword === '') return [];
    if (keyword !== 'include') return [[keyword, value.replaceAll('"', '')]];
    if (depth >= MAX_DEPTH) return [];
    return value
      .split(/\s+/)
      .flatMap((pattern) => named(pattern.replaceAll('"', ''), file, home))
      .flatMap((included) => linesOf(included, home, depth + 1));
  });
}

/** Files that an Include means: `~` and relative names start at the user's ~/.ssh, the system's at /etc/ssh. */
function named(pattern: string, from: string, home: string): readonly string[] {
  const base = from.startsWith('/etc/ssh/') ? '/etc/ssh' : join(home, '.ssh');
  const path = resolve(base, pattern.startsWith('~/') ? join(home, pattern.slice(2)) : pattern);
  if (!/[*?[]/.test(path)) return [path];
  const folder = dirname(path);
  try {
    return readdirSync(folder)
      .filter((name) => !name.startsWith('.') && wildcard(basename(path), name))
      .sort()
      .map((name) => join(folder, name));
  } catch {
    return [];
  }
}

function matches(patterns: readonly string[], name: string): boolean {
  const meets = (pattern: string) => wildcard(pattern, name);
  if (patterns.some((pattern) => pattern.startsWith('!') && meets(pattern.slice(1)))) return false;
  return patterns.some((pattern) => !pattern.startsWith('!') && meets(pattern));
}
