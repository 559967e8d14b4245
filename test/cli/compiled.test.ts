import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { cachedDataVersionTag } from 'node:v8';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { cacheFolder, load } from '../../src/cli/compiled.ts';
import { restoreSettings } from '../../src/cli/v8-settings.ts';

let folder: string;
let program: string;
let cache: string;
let kept: string;

afterEach(restoreSettings);

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'kbuild-compiled-'));
  program = join(folder, 'program-ABC123.cjs');
  cache = join(folder, 'cache/kbuild');
  kept = join(cache, 'program.v8');
  writeFileSync(program, "const { sep } = require('node:path'); exports.answer = () => sep + __filename;\n");
});

const answer = (): unknown => {
  const { exports, keep } = load(program, 'plan', cache);
  const result = (exports['answer'] as () => unknown)();
  keep();
  return result;
};

/** The commands whose code is kept. */
const commands = (): unknown =>
  (JSON.parse(readFileSync(kept, 'utf8').split('\n', 1)[0]!) as { readonly commands: unknown }).commands;

/** What identifies the file, to tell one that was written anew. */
const inode = (): number => statSync(kept).ino;

describe('a program whose compiled code is kept', () => {
  test('runs, and leaves code that only its user can read', () => {
    expect(answer()).toBe(`/${program}`);
    expect(readdirSync(cache)).toEqual(['program.v8']);
    expect(statSync(kept).mode & 0o777).toBe(0o600);
    expect(statSync(cache).mode & 0o777).toBe(0o700);
  });

  test('has its text as it is written, also beyond ASCII', () => {
    writeFileSync(program, 'const shown = (strings) => strings.raw[0]; exports.answer = () => shown`↓ ·`;\n');
    expect([answer(), answer()]).toEqual(['↓ ·', '↓ ·']);
  });

  test('starts with that code, which is not written again', () => {
    answer();
    const before = inode();
    expect(answer()).toBe(`/${program}`);
    expect(inode()).toBe(before);
  });

  test('adds what another command compiled', () => {
    answer();
    load(program, 'status', cache).keep();
    expect(commands()).toEqual(['plan', 'status']);
  });

  test.each(['--help', '', 'a/b', 'UP'])('keeps nothing for the word %j, which is no command', (word) => {
    load(program, word, cache).keep();
    expect(existsSync(kept)).toBe(false);
  });
});

test('what the program loads, and what is kept of it, meets V8 with its own settings', () => {
  // The tag is that of V8's version and settings: compiled code of another one is not taken.
  const own = cachedDataVersionTag();
  writeFileSync(join(folder, 'own.cjs'), "exports.tag = require('node:v8').cachedDataVersionTag();\n");
  writeFileSync(program, "exports.tag = require('./own.cjs').tag; exports.again = require('./own.cjs').tag;\n");
  const { exports } = load(program, 'plan', cache);
  restoreSettings();
  expect([exports['tag'], exports['again'], cachedDataVersionTag()]).toEqual([own, own, own]);
});

describe('code that is not taken', () => {
  /** Nothing of the file is used: what the next start keeps holds no command from before. */
  const isRefused = (): void => {
    const { exports, keep } = load(program, 'up', cache);
    expect(exports['answer']).toBeTypeOf('function');
    keep();
    expect(commands()).toEqual(['up']);
  };

  beforeEach(() => void answer());

  test('a file that others can write', () => {
    chmodSync(kept, 0o620);
    isRefused();
  });

  test('a link', () => {
    const elsewhere = join(folder, 'elsewhere');
    writeFileSync(elsewhere, readFileSync(kept), { mode: 0o600 });
    symlinkSync(elsewhere, join(cache, 'link'));
    renameSync(join(cache, 'link'), kept);
    isRefused();
  });

  test('one flipped byte', () => {
    const bytes = readFileSync(kept);
    bytes[bytes.length - 100]! ^= 0xff;
    writeFileSync(kept, bytes);
    isRefused();
  });

  test.each(['', '\n', 'null\n', '{"of":1}\n', 'no JSON'])('an absurd file: %j', (text) => {
    writeFileSync(kept, text);
    isRefused();
  });

  test('no list of commands', () => {
    const bytes = readFileSync(kept);
    const end = bytes.indexOf('\n');
    const head = { ...(JSON.parse(bytes.toString('utf8', 0, end)) as object), commands: 5 };
    writeFileSync(kept, Buffer.concat([Buffer.from(JSON.stringify(head)), bytes.subarray(end)]));
    isRefused();
  });

  test('that of another text', () => {
    const other = join(folder, 'program-DEF456.cjs');
    writeFileSync(other, 'exports.answer = () => "other";\n');
    program = other;
    isRefused();
  });
});

describe('without a place for it', () => {
  test('the program runs', () => {
    writeFileSync(join(folder, 'file'), '');
    cache = join(folder, 'file/kbuild');
    expect(answer()).toBe(`/${program}`);
    load(program, 'plan', undefined).keep();
  });

  test('what a killed process left is removed', () => {
    mkdirSync(cache, { recursive: true });
    writeFileSync(`${kept}.${process.pid}`, 'half');
    answer();
    expect(readdirSync(cache).filter((name) => name !== 'program.v8')).toEqual([]);
  });

  test('a folder in the place of the file stays', () => {
    mkdirSync(join(kept, 'in it'), { recursive: true });
    expect(answer()).toBe(`/${program}`);
    expect(readdirSync(cache)).toEqual(['program.v8']);
    expect(readdirSync(kept)).toEqual(['in it']);
  });

  test.each([
    [{ XDG_CACHE_HOME: '/var/cache/me', HOME: '/home/me' }, '/var/cache/me/kbuild'],
    [{ HOME: '/home/me' }, '/home/me/.cache/kbuild'],
    [{ XDG_CACHE_HOME: '', HOME: '/home/me' }, '/home/me/.cache/kbuild'],
    [{ XDG_CACHE_HOME: 'cache', HOME: '/home/me' }, '/home/me/.cache/kbuild'],
    [{ XDG_CACHE_HOME: './', HOME: '' }, undefined],
    [{ HOME: '' }, undefined],
    [{ HOME: 'me' }, undefined],
    [{}, undefined],
    [{ HOME: '/home/me', NODE_DISABLE_COMPILE_CACHE: '1' }, undefined],
  ])('with %j its code is kept in %s', (env, expected) => {
    expect(cacheFolder(env, '/work')).toBe(expected);
  });

  test.each(['/var/cache', '/var/cache/me', '/var/cache/me/kbuild', '/'])(
    'its code is kept nowhere if that were below the working directory %s',
    (cwd) => {
      expect(cacheFolder({ XDG_CACHE_HOME: '/var/cache/me' }, cwd)).toBe(undefined);
    },
  );

  test('its code is kept nowhere if a link leads below the working directory', () => {
    mkdirSync(join(folder, 'repository/kbuild'), { recursive: true });
    symlinkSync('repository', join(folder, 'link'));
    const env = { XDG_CACHE_HOME: join(folder, 'link') };
    expect(cacheFolder(env, join(folder, 'repository'))).toBe(undefined);
    expect(cacheFolder(env, join(folder, 'repo'))).toBe(join(folder, 'link/kbuild'));
  });
});
