import { isAscii } from 'node:buffer';
import { createHash } from 'node:crypto';
import {
  closeSync,
  constants,
  fstatSync,
  mkdirSync,
  openSync,
  readFileSync,
  readSync,
  realpathSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { createRequire } from 'node:module';
import { basename, dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Script } from 'node:vm';
import { userFolder } from '../session/user-folder.ts';
import { beginLoading, withOwnSettings } from './v8-settings.ts';

/*
 * Compiling the program's text is a third of what a short command costs, and the same each time, so what V8 compiled is
 * kept for the next start. Node 22 can do that for modules (module.enableCompileCache), Node 20 cannot. A program of
 * one file whose code is kept here starts quicker than modules with Node's cache: nothing has to be found and linked.
 */

/** A program that was loaded. */
interface Loaded {
  readonly exports: Readonly<Record<string, unknown>>;
  /** Keeps what V8 has compiled until now for the next start, if this command was not kept before. Never throws. */
  readonly keep: () => void;
}

/** What one start left for the next. */
interface Kept {
  /** Commands whose functions are in it. */
  readonly commands: readonly string[];
  readonly data: Buffer;
}

const sha256 = (data: Buffer): string => createHash('sha256').update(data).digest('hex');

/** Whose code it is. The program's name holds a hash of its text. */
const identity = (program: string): string => `${basename(program)} ${process.version} ${process.arch}`;

/**
 * What is kept in a file. Only a file that this user owns and no other user can write is read: it becomes code. V8
 * itself verifies neither who wrote it nor that it is whole (seen in Node 20: a flipped byte is accepted).
 */
function readKept(file: string, program: string): Kept | undefined {
  let handle: number | undefined;
  try {
    handle = openSync(file, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
    const stat = fstatSync(handle);
    if (!stat.isFile() || stat.uid !== process.geteuid?.() || (stat.mode & 0o022) !== 0) return undefined;
    const bytes = readFileSync(handle);
    const end = bytes.indexOf('\n');
    const head = JSON.parse(bytes.toString('utf8', 0, end)) as Partial<Record<string, unknown>>;
    const data = bytes.subarray(end + 1);
    const { of, commands, sha256: sum } = head;
    if (of !== identity(program) || sum !== sha256(data) || !Array.isArray(commands)) return undefined;
    return { commands: commands as readonly string[], data };
  } catch {
    return undefined;
  } finally {
    if (handle !== undefined) closeSync(handle);
  }
}

/** A cache that cannot be written is no reason to fail a run. */
const quietly = (write: () => void): void => {
  try {
    write();
  } catch {
    // The next start compiles the program again.
  }
};

/** Writes by rename, so that no start meets half a file. */
function writeKept(file: string, program: string, { commands, data }: Kept): void {
  const part = `${file}.${process.pid}`;
  quietly(() => {
    mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
    const head = JSON.stringify({ of: identity(program), commands, sha256: sha256(data) });
    writeFileSync(part, Buffer.concat([Buffer.from(`${head}\n`), data]), { mode: 0o600, flag: 'wx' });
    renameSync(part, file);
  });
  // What a full disk or a killed process of the same number left.
  quietly(() => rmSync(part, { force: true }));
}

const HEAD = "(function (exports, require, module, __filename, __dirname) { 'use strict';";
const TAIL = '\n})';

/** A file's bytes between others: read to where they are needed, because it is large. */
function readBetween(head: string, file: string, tail: string): Buffer {
  const handle = openSync(file, constants.O_RDONLY);
  try {
    const { size } = fstatSync(handle);
    const bytes = Buffer.allocUnsafe(head.length + size + tail.length);
    let at = bytes.write(head, 'latin1');
    while (at < head.length + size) {
      const count = readSync(handle, bytes, at, head.length + size - at, null);
      if (count === 0) throw new Error(`${file} has become shorter`);
      at += count;
    }
    bytes.write(tail, at, 'latin1');
    return bytes;
  } finally {
    closeSync(handle);
  }
}

/**
 * A program as a function's text. V8 takes ASCII as it is; anything else is decoded, and needs two bytes a character.
 */
function textOf(program: string): string {
  const bytes = readBetween(HEAD, program, TAIL);
  return bytes.toString(isAscii(bytes) ? 'latin1' : 'utf8');
}

/** The program's own `require`. It asks for the same modules again and again. */
function requireFor(program: string): (name: string) => unknown {
  const load = createRequire(program);
  const known = new Map<string, unknown>();
  return (name) => {
    if (!known.has(name))
      known.set(
        name,
        withOwnSettings((): unknown => load(name)),
      );
    return known.get(name);
  };
}

/**
 * Runs a program, a CommonJS file, and returns its exports. `folder`: where compiled code is kept; undefined: nowhere.
 * @throws whatever the program throws; Error if there is no such file
 */
export function load(program: string, command: string, folder: string | undefined): Loaded {
  const file = folder === undefined ? undefined : join(folder, `${basename(program).replace(/-\w+\.cjs$/, '')}.v8`);
  const kept = file === undefined ? undefined : readKept(file, program);
  const script = new Script(textOf(program), {
    filename: program,
    columnOffset: -HEAD.length,
    ...(kept === undefined ? {} : { cachedData: kept.data }),
  });
  const module = { exports: {} };
  beginLoading();
  const wrapped = script.runInThisContext() as (...parameters: readonly unknown[]) => void;
  wrapped(module.exports, requireFor(program), module, program, dirname(program));

  const commands = kept === undefined || script.cachedDataRejected === true ? [] : kept.commands;
  const keep = (): void => {
    if (file === undefined || commands.includes(command) || !/^[a-z][a-z-]*$/.test(command)) return;
    writeKept(file, program, { commands: [...commands, command], data: script.createCachedData() });
  };
  return { exports: module.exports, keep };
}

/** The path without links. A path that does not exist stays as it is: nothing can be read there. */
function withoutLinks(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
}

/**
 * Below $XDG_CACHE_HOME, default ~/.cache. None where Node's own variable forbids it, where the system knows no owners
 * of files, and below the working directory `cwd`: files there may have come with a repository of other people, and
 * code that Git checked out belongs to the user.
 */
export function cacheFolder(env: NodeJS.ProcessEnv, cwd: string): string | undefined {
  if (env['NODE_DISABLE_COMPILE_CACHE'] !== undefined || process.geteuid === undefined) return undefined;
  const cache = userFolder(env, 'XDG_CACHE_HOME', '.cache');
  if (cache === undefined) return undefined;
  const folder = join(cache, 'kbuild');
  const way = relative(withoutLinks(cwd), withoutLinks(folder));
  return way === '..' || way.startsWith('../') ? folder : undefined;
}

/** Runs a program beside this one for the command line's command; what it compiled is kept when the process ends. */
export function compiled(program: URL): Readonly<Record<string, unknown>> {
  const { exports, keep } = load(
    fileURLToPath(program),
    process.argv[2] ?? '',
    cacheFolder(process.env, process.cwd()),
  );
  // Exit code 2: a command line that was refused is no command.
  process.once('exit', (code) => {
    if (code !== 2) keep();
  });
  return exports;
}
