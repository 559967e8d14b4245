/** A machine of wine: one prefix, whose drive C: is a folder of this machine. Programs see nothing else of this machine's files. */
import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const WINE = '/usr/lib/wine/wine64';
const SERVER = '/usr/lib/wine/wineserver64';

/** How a program is run. */
export interface WineRun {
  readonly env?: Readonly<Record<string, string>>;
  readonly input?: string;
  /** Its working directory; default C:\. */
  readonly folder?: string;
  /** Milliseconds after which it is ended. */
  readonly deadlineMs: number;
}

/** What a program said, and its exit code; undefined when it was ended at its deadline. */
export interface WineResult {
  readonly stdout: string;
  readonly stderr: string;
  readonly status: number | undefined;
}

/** A program that goes on. */
export interface WineProcess {
  /** What it printed until now. */
  readonly printed: () => string;
  readonly hasEnded: () => boolean;
  readonly stop: () => Promise<void>;
}

/** One such machine. */
export interface Wine {
  /** Drive C: as a folder of this machine. */
  readonly drive: string;
  /** The file of this machine that a path on C: names. @throws TypeError for a path elsewhere */
  readonly onDisk: (path: string) => string;
  readonly run: (exe: string, args: readonly string[], how: WineRun) => Promise<WineResult>;
  readonly start: (exe: string, args: readonly string[], how?: Omit<WineRun, 'deadlineMs' | 'input'>) => WineProcess;
  /** Ends all its programs, and removes it. */
  readonly close: () => Promise<void>;
}

/** Makes one from a template, which it shares Windows' own files with. */
export function makeWine(template: string): Wine {
  const prefix = mkdtempSync(join(tmpdir(), 'kbuild-wine-'));
  const drive = join(prefix, 'drive_c');
  for (const name of readdirSync(template)) {
    if (name !== 'drive_c' && name !== 'wineserver')
      cpSync(join(template, name), join(prefix, name), { recursive: true, verbatimSymlinks: true });
  }
  mkdirSync(drive);
  for (const name of readdirSync(join(template, 'drive_c'))) {
    const from = join(template, 'drive_c', name);
    if (name === 'windows') symlinkSync(from, join(drive, name));
    else cpSync(from, join(drive, name), { recursive: true, verbatimSymlinks: true });
  }
  const env = {
    PATH: process.env['PATH'] ?? '',
    HOME: prefix,
    WINEPREFIX: prefix,
    WINEDEBUG: '-all',
    WINEDLLOVERRIDES: 'bcryptprimitives=n,b;pdh=n,b;mscoree=;mshtml=',
  };
  const onDisk = (path: string): string => {
    if (!/^C:[\\/]/i.test(path)) throw new TypeError(`${path} is not on C:`);
    return join(drive, ...path.slice(3).split(/[\\/]/));
  };
  // Between two programs it would end, and cost seconds anew; not for ever, or it would outlive a test that is killed.
  spawnSync(SERVER, ['-p60'], { env, stdio: 'ignore' });
  const children = new Set<ChildProcess>();
  const launch = (exe: string, args: readonly string[], how: Omit<WineRun, 'deadlineMs'>): ChildProcess => {
    const child = spawn(WINE, [exe, ...args], {
      cwd: onDisk(how.folder ?? 'C:\\'),
      env: { ...env, ...how.env },
      stdio: ['pipe', 'pipe', 'pipe'],
    });
    children.add(child);
    child.once('close', () => children.delete(child));
    child.stdin.on('error', () => undefined);
    return child;
  };
  return {
    drive,
    onDisk,
    async run(exe, args, how) {
      const child = launch(exe, args, how);
      const said = { stdout: '', stderr: '' };
      child.stdout!.on('data', (chunk: Buffer) => (said.stdout += chunk.toString('utf8')));
      child.stderr!.on('data', (chunk: Buffer) => (said.stderr += chunk.toString('utf8')));
      child.stdin!.end(how.input ?? '');
      const timer = setTimeout(() => child.kill('SIGKILL'), how.deadlineMs);
      // What it started may keep its output open.
      const [status] = (await once(child, 'exit')) as [number | null];
      clearTimeout(timer);
      await Promise.race([once(child, 'close'), new Promise((done) => setTimeout(done, 500))]);
      return { ...said, status: status ?? undefined };
    },
    start(exe, args, how = {}) {
      const child = launch(exe, args, how);
      const ended = once(child, 'exit');
      let printed = '';
      for (const stream of [child.stdout!, child.stderr!])
        stream.on('data', (chunk: Buffer) => (printed += chunk.toString('utf8')));
      const hasEnded = (): boolean => child.exitCode !== null || child.signalCode !== null;
      return {
        printed: () => printed,
        hasEnded,
        async stop() {
          if (hasEnded()) return;
          child.kill('SIGKILL');
          await ended;
        },
      };
    },
    async close() {
      for (const child of children) child.kill('SIGKILL');
      // Of this prefix alone.
      for (const flag of ['-k', '-w']) {
        const server = spawn(SERVER, [flag], { env, stdio: 'ignore' });
        await once(server, 'exit');
      }
      rmSync(prefix, { recursive: true, force: true });
    },
  };
}
