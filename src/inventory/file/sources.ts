import { execFile, spawn } from 'node:child_process';
import { readdir } from 'node:fs/promises';
import { homedir } from 'node:os';
import { resolve } from 'node:path';
import { openPlainFile } from '../../shell/plain-file.ts';
import { type Helm, helmOf } from './helm.ts';
import { publishedHelm } from './helm-program.ts';

const MAX_REDIRECTS = 10;

/** Fetches a URL. A redirect never leaves HTTPS. @throws Error that names the redirect; what `fetch` throws */
export async function fetchHttps(
  url: string,
  init: RequestInit = {},
  fetcher: typeof fetch = fetch,
): Promise<Response> {
  let at = url;
  for (let redirects = 0; redirects <= MAX_REDIRECTS; redirects += 1) {
    const response = await fetcher(at, { ...init, redirect: 'manual' });
    const location = response.headers.get('location');
    if (response.status < 300 || response.status >= 400 || location === null) return response;
    await response.body?.cancel();
    const next = new URL(location, at);
    if (at.startsWith('https:') && next.protocol !== 'https:')
      throw new Error(`redirects to ${next.href}, which is not HTTPS`);
    at = next.href;
  }
  throw new Error(`redirects more than ${String(MAX_REDIRECTS)} times`);
}

/** Where an inventory's parts come from. */
export interface Sources {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** An absolute path: `~` is the user's home folder, relative ones start at `folder`. */
  readonly locate: (path: string, folder: string) => string;
  /** At most `limit` bytes of a file, `-` is standard input. Rejects with the system's error, and for a pipe. */
  readonly read: (path: string, limit: number) => Promise<Uint8Array>;
  /** Names of the files in a folder, sorted. */
  readonly list: (path: string) => Promise<readonly string[]>;
  /** Fetches at most `limit` bytes over HTTPS; missing if no network access is allowed. */
  readonly fetch?: (url: string, limit: number) => Promise<Uint8Array>;
  /** Runs a command and returns its output; missing if no command may run. */
  readonly command?: (command: string) => Promise<string>;
  /**
   * Runs a command with `input` and additional environment `variables`, and returns its output. A person may have to
   * act meanwhile.
   */
  readonly filter?: (command: string, input: string, variables: Readonly<Record<string, string>>) => Promise<string>;
  /** Renders charts; missing if no command may run. */
  readonly helm?: Helm;
  /** Runs a hook with additional environment `variables`, and ends it with all that it started after `timeoutMs`. */
  readonly hook?: (command: string, variables: Readonly<Record<string, string>>, timeoutMs: number) => Promise<void>;
}

/** Whether a source is fetched, instead of read from a file. */
export const isUrl = (source: string): boolean => /^[a-z]+:\/\//.test(source);

const COMMAND_TIMEOUT_MS = 60_000;
/** A person may have to touch a hardware token or confirm. */
const FILTER_TIMEOUT_MS = 10 * 60_000;
const FETCH_TIMEOUT_MS = 30_000;
/** A program, over a slow line. */
const PROGRAM_TIMEOUT_MS = 5 * 60_000;
const CHUNK = 64 * 1024;

async function readAtMost(path: string | number, limit: number): Promise<Uint8Array> {
  const file = await openPlainFile(typeof path === 'number' ? '/dev/stdin' : path);
  try {
    const chunks: Uint8Array[] = [];
    let size = 0;
    while (size < limit) {
      const { bytesRead, buffer } = await file.read(Buffer.alloc(Math.min(CHUNK, limit - size)));
      if (bytesRead === 0) break;
      chunks.push(buffer.subarray(0, bytesRead));
      size += bytesRead;
    }
    return Buffer.concat(chunks);
  } finally {
    await file.close();
  }
}

async function fetchAtMost(url: string, limit: number, timeoutMs = FETCH_TIMEOUT_MS): Promise<Uint8Array> {
  const response = await fetchHttps(url, { signal: AbortSignal.timeout(timeoutMs) });
  if (!response.ok) throw new Error(`${response.status} ${response.statusText}`);
  const chunks: Uint8Array[] = [];
  let size = 0;
  // Leaving the loop ends the transfer.
  for await (const chunk of (response.body ?? []) as AsyncIterable<Uint8Array>) {
    chunks.push(chunk.subarray(0, limit - size));
    size += chunk.length;
    if (size >= limit) break;
  }
  return Buffer.concat(chunks);
}

/** stdout of `/bin/sh -c command`. The error never shows what it printed, which may be the secret. */
const runCommand = (command: string): Promise<string> =>
  new Promise((done, fail) => {
    execFile('/bin/sh', ['-c', command], { timeout: COMMAND_TIMEOUT_MS }, (error, stdout) => {
      if (error === null) done(stdout);
      else fail(new Error(error.killed === true ? 'no answer within 60 s' : `exit status ${String(error.code)}`));
    });
  });

/** Lines of a failed command's stderr that its error shows. */
const SHOWN_LINES = 5;

const runFilter =
  (env: Sources['env']): NonNullable<Sources['filter']> =>
  (command, input, variables) =>
    new Promise((done, fail) => {
      const options = { timeout: FILTER_TIMEOUT_MS, env: { ...env, ...variables } };
      const child = execFile('/bin/sh', ['-c', command], options, (error, stdout, stderr) => {
        if (error === null) {
          done(stdout);
          return;
        }
        const why = error.killed === true ? 'no answer within 10 minutes' : `exit status ${String(error.code)}`;
        fail(
          new Error([why, ...stderr.trim().split('\n').slice(-SHOWN_LINES)].filter((line) => line !== '').join('\n')),
        );
      });
      // A command that ends before it has read its input reports the reason by its status.
      child.stdin?.on('error', () => undefined);
      child.stdin?.end(input);
    });

/** What a hook prints is kept up to this many characters, from its end. */
const KEPT_CHARACTERS = 64 * 1024;

const runHook =
  (env: Sources['env']): NonNullable<Sources['hook']> =>
  (command, variables, timeoutMs) =>
    new Promise((done, fail) => {
      // A process group of its own: what the shell has started would else outlive it, and keep the pipes open.
      const child = spawn('/bin/sh', ['-c', command], {
        env: { ...env, ...variables },
        stdio: ['ignore', 'pipe', 'pipe'],
        detached: true,
      });
      let printed = '';
      const keep = (bytes: Buffer): void => void (printed = (printed + bytes.toString()).slice(-KEPT_CHARACTERS));
      child.stdout.on('data', keep);
      child.stderr.on('data', keep);
      let isLate = false;
      const timer = setTimeout(() => {
        isLate = true;
        if (child.pid !== undefined)
          execFile('kill', ['-s', 'KILL', '--', `-${String(child.pid)}`], () => child.kill('SIGKILL'));
      }, timeoutMs);
      child.on('error', fail);
      child.on('close', (status, signal) => {
        clearTimeout(timer);
        if (status === 0) {
          done();
          return;
        }
        const why = isLate ? `no end within ${String(timeoutMs / 1000)} s` : `exit status ${String(status ?? signal)}`;
        const lines = printed.trim().split('\n').slice(-SHOWN_LINES);
        fail(new Error([why, ...lines].filter((line) => line !== '').join('\n')));
      });
    });

/** This machine's files and environment. `reach: 'local'` contacts nothing and runs no command. */
export function localSources(options: {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
  readonly reach: 'local' | 'all';
}): Sources {
  const { env, cwd, reach } = options;
  const home = env['HOME'] ?? homedir();
  return {
    env,
    locate: (path, folder) =>
      resolve(cwd, folder, path === '~' || path.startsWith('~/') ? `${home}${path.slice(1)}` : path),
    read: (path, limit) => readAtMost(path === '-' ? 0 : path, limit),
    list: async (path) => (await readdir(path)).sort(),
    ...(reach === 'all'
      ? {
          ...{ fetch: fetchAtMost, command: runCommand, filter: runFilter(env), hook: runHook(env) },
          helm: helmOf(
            env,
            publishedHelm((url, limit) => fetchAtMost(url, limit, PROGRAM_TIMEOUT_MS)),
          ),
        }
      : {}),
  };
}
