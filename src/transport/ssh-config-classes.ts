import { readdirSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { readPlainFile } from '../shell/plain-file.ts';
import { wildcard } from './known-hosts.ts';

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

/** The keyword of a line, in lower case, and its value; empty where there is none. Takes a time that grows with the line's length alone. */
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
