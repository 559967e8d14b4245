// @module-tag linux
import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  lchownSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { files } from '../../src/host/files.facts.ts';
import { sha256Of } from '../../src/shell/secret.ts';
import { script } from '../../src/templates.ts';

/** A user without rights. */
const NOBODY = 65_534;
const SECRET = 'root:$y$j9T$hash\n';

let folder: string;
const at = (...path: readonly string[]): string => join(folder, ...path);

/** A folder of root's with a secret, and `home`, in which the user who is given is at home. */
function homeOf(uid: number): void {
  mkdirSync(at('rootonly'));
  writeFileSync(at('rootonly/shadow'), SECRET, { mode: 0o640 });
  mkdirSync(at('home'));
  chownSync(at('home'), uid, uid);
}

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'kbuild-root-path-'));
  chmodSync(folder, 0o755);
});
afterEach(() => rmSync(folder, { recursive: true }));

const ran = (command: { readonly script: string }, input = '') => {
  const { status, stdout, stderr } = spawnSync('sh', ['-euc', command.script], { encoding: 'utf8', input });
  return { status, stdout, stderr: stderr.trim() };
};
const write = (TARGET: string, text = 'wanted\n', MODE = '0644') =>
  ran(script('ssh/write-file.sh', { TARGET, MODE, SHA256: sha256Of(text) }), text);
const show = (FILE: string) => ran(script('ssh/show-file.sh', { FILE }));
const take = (name: 'note-file' | 'take-back-file', FILE: string) =>
  ran(script(`host/${name}.sh`, { FILE, RECORD: at('state/files'), KEPT: at('state/replaced') }));
const observed = (path: string) => {
  const { command, parse } = files([path], []);
  return parse(ran(command).stdout, { middleMs: 0 }).get(path);
};

/** What is said of a path that is refused by all scripts, and nothing is changed. */
function refusedBecause(path: string, why: string): void {
  const about = { status: 117, stdout: '', stderr: `${path}: ${why}` };
  const before = readdirSync(folder, { recursive: true, encoding: 'utf8' });
  expect(observed(path)).toEqual({ kind: 'unsafe', why });
  expect(write(path)).toEqual(about);
  expect(show(path)).toEqual(about);
  expect(take('note-file', path)).toEqual(about);
  expect(readdirSync(folder, { recursive: true, encoding: 'utf8' })).toEqual(before);
}

// The owner of a file can be changed by root alone.
describe('where another user owns a part of the path', { tags: ['root'] }, () => {
  beforeEach(() => homeOf(NOBODY));
  const owner = `${spawnSync('id', ['-un', String(NOBODY)], { encoding: 'utf8' }).stdout.trim()} (uid ${String(NOBODY)})`;

  test('a link in their folder is neither followed, shown nor written', () => {
    symlinkSync(at('rootonly/shadow'), at('home/app.conf'));
    lchownSync(at('home/app.conf'), NOBODY, NOBODY);
    refusedBecause(at('home/app.conf'), `${at('home')} belongs to ${owner}`);
    expect(readFileSync(at('rootonly/shadow'), 'utf8')).toBe(SECRET);
    expect(statSync(at('rootonly/shadow')).mode & 0o777).toBe(0o640);
  });

  test('no file or folder is made in their folder', () => {
    refusedBecause(at('home/app.conf'), `${at('home')} belongs to ${owner}`);
    expect(write(at('home/deeper/app.conf')).status).toBe(117);
    expect(readdirSync(at('home'))).toEqual([]);
  });

  test('a folder of root below theirs is refused: they can exchange it', () => {
    mkdirSync(at('home/etc'));
    refusedBecause(at('home/etc/x'), `${at('home')} belongs to ${owner}`);
  });

  test('their link in a folder of root, by which the way leads, is not followed', () => {
    symlinkSync('rootonly', at('link'));
    lchownSync(at('link'), NOBODY, NOBODY);
    refusedBecause(at('link/shadow'), `${at('link')} is a link of nobody`);
  });

  test("root's link into their folder is not followed", () => {
    symlinkSync('home', at('link'));
    refusedBecause(at('link/x'), `${at('home')} belongs to ${owner}`);
  });

  test('what was distributed there stays when it is taken back, until it is moved away', () => {
    mkdirSync(at('state'));
    writeFileSync(at('state/files'), `${at('home/x')}\n${at('other')}\n`);
    writeFileSync(at('home/x'), 'old');
    expect(take('take-back-file', at('home/x')).status).toBe(117);
    expect(readFileSync(at('home/x'), 'utf8')).toBe('old');
    rmSync(at('home/x'));
    expect(take('take-back-file', at('home/x'))).toEqual({ status: 0, stdout: '', stderr: '' });
    expect(readFileSync(at('state/files'), 'utf8')).toBe(`${at('other')}\n`);
  });

  test('their file in a folder of root is replaced', () => {
    writeFileSync(at('file'), 'theirs');
    chownSync(at('file'), NOBODY, NOBODY);
    expect(write(at('file'))).toEqual({ status: 0, stdout: '', stderr: '' });
    expect(statSync(at('file')).uid).toBe(0);
  });
});

describe('a folder that all users can write to', () => {
  beforeEach(() => homeOf(process.getuid!()));

  test('is no place for a file, unless it has the sticky bit', () => {
    chmodSync(at('home'), 0o777);
    refusedBecause(at('home/x'), `users other than root can write to ${at('home')}`);
    chmodSync(at('home'), 0o1777);
    expect(write(at('home/x')).status).toBe(0);
    expect(write(at('home/own/x')).status).toBe(0);
    expect(statSync(at('home/own')).mode & 0o777).toBe(0o755);
  });

  test('with the sticky bit: a link there is not followed, whoever owns it, and a file there is not shown', () => {
    chmodSync(at('home'), 0o1777);
    symlinkSync(at('rootonly/shadow'), at('home/x'));
    expect(observed(at('home/x'))).toMatchObject({ kind: 'unsafe' });
    writeFileSync(at('home/y'), 'text');
    expect(show(at('home/y'))).toMatchObject({
      status: 117,
      stderr: `${at('home/y')}: users other than root can make files in ${at('home')}`,
    });
  });
});

describe("where every part of the path is root's", () => {
  beforeEach(() => homeOf(process.getuid!()));

  test('a link to a file stays a link, by folders that are links', () => {
    symlinkSync('rootonly', at('folder'));
    symlinkSync('../folder/shadow', at('home/link'));
    expect(observed(at('home/link'))).toMatchObject({ kind: 'file', mode: 0o640 });
    expect(show(at('home/link')).stdout).toBe(SECRET);
    expect(write(at('home/link'))).toEqual({ status: 0, stdout: '', stderr: '' });
    expect(lstatSync(at('home/link')).isSymbolicLink()).toBe(true);
    expect(readFileSync(at('rootonly/shadow'), 'utf8')).toBe('wanted\n');
    expect(write(at('folder/new'))).toEqual({ status: 0, stdout: '', stderr: '' });
    expect(readFileSync(at('rootonly/new'), 'utf8')).toBe('wanted\n');
  });

  test('a link to what is no file, as that of a masked unit, is replaced', () => {
    symlinkSync('/dev/null', at('home/unit'));
    symlinkSync('nothing/there', at('home/dangling'));
    for (const name of ['home/unit', 'home/dangling']) {
      expect(write(at(name))).toEqual({ status: 0, stdout: '', stderr: '' });
      expect(lstatSync(at(name)).isFile()).toBe(true);
    }
  });

  test('folders that are missing are made, and nothing else is left there', () => {
    expect(observed(at('a/b/c'))).toEqual({ kind: 'absent' });
    expect(write(at('a/b/c'), 'x', '0600')).toEqual({ status: 0, stdout: '', stderr: '' });
    expect(readdirSync(at('a/b'))).toEqual(['c']);
    expect(statSync(at('a/b/c')).mode & 0o777).toBe(0o600);
  });

  test('a circle of links ends', () => {
    symlinkSync('b', at('a'));
    symlinkSync('a', at('b'));
    expect(observed(at('a/x'))).toEqual({ kind: 'unsafe', why: `${at('a/x')} leads through too many links` });
  });

  test('a folder in the place of the file stays', () => {
    expect(write(at('home')).status).not.toBe(0);
    expect(readdirSync(folder).toSorted()).toEqual(['home', 'rootonly']);
  });

  test('what was there before a file was distributed comes back, never into a folder of its name', () => {
    writeFileSync(at('home/x'), 'before');
    expect(take('note-file', at('home/x'))).toEqual({ status: 0, stdout: '', stderr: '' });
    rmSync(at('home/x'));
    mkdirSync(at('home/x'));
    expect(take('take-back-file', at('home/x')).status).not.toBe(0);
    rmSync(at('home/x'), { recursive: true });
    expect(take('take-back-file', at('home/x')).status).toBe(0);
    expect(readFileSync(at('home/x'), 'utf8')).toBe('before');
  });
});
