import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { mkdir, mkdtemp, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { cacheFolder, downloadedHelm, type Env, hashOf, type HelmSite } from './helm-program.ts';

/** Helm on this machine. Each function rejects with what Helm printed last. */
export interface Helm {
  /** The packaged chart that `helm pull ARGS` fetches, with this hash. Kept in the user's cache. */
  readonly pull: (args: readonly string[], sha256: string) => Promise<Uint8Array>;
  /** What `helm template ARGS` prints for a packaged chart; `values`: YAML. Contacts no cluster. */
  readonly render: (name: string, chart: Uint8Array, args: readonly string[], values: string) => Promise<string>;
}

const TIMEOUT_MS = 120_000;
const MAX_OUTPUT = 32 * 1024 * 1024;
const SHOWN_LINES = 5;

const REMEDY =
  'Install Helm 3.8 or newer on this machine (https://helm.sh/docs/intro/install), or render the chart elsewhere and ' +
  'name the rendered file in manifests';

/** stdout of helm. Values travel by stdin: no argument and no file has them. */
const run = (program: string, env: Env, args: readonly string[], input = ''): Promise<string> =>
  new Promise((done, fail) => {
    const child = spawn(program, args, { env, stdio: 'pipe', timeout: TIMEOUT_MS, killSignal: 'SIGKILL' });
    const chunks: Buffer[] = [];
    let size = 0;
    let printed = '';
    child.stdout.on('data', (bytes: Buffer) => {
      size += bytes.length;
      if (size > MAX_OUTPUT) child.kill('SIGKILL');
      else chunks.push(bytes);
    });
    child.stderr.on('data', (bytes: Buffer) => void (printed = (printed + bytes.toString()).slice(-64 * 1024)));
    // A Helm that ends before it has read its input reports the reason by its status.
    child.stdin.on('error', () => undefined);
    child.on('error', fail);
    child.on('close', (status, signal) => {
      if (status === 0) {
        done(Buffer.concat(chunks).toString());
        return;
      }
      const why =
        size > MAX_OUTPUT
          ? 'prints more than 32 MiB'
          : signal === null
            ? `exit status ${String(status)}`
            : `did not end within ${String(TIMEOUT_MS / 1000)} s`;
      const lines = printed.trim().split('\n').slice(-SHOWN_LINES);
      fail(new Error([`helm ${args[0]!}: ${why}`, ...lines].filter((line) => line !== '').join('\n')));
    });
    child.stdin.end(input);
  });

/** Why kbuild does not run the Helm of PATH; undefined if it does. OCI references are stable since Helm 3.8. */
async function flawOfPath(env: Env): Promise<string | undefined> {
  let text: string;
  try {
    text = (await run('helm', env, ['version', '--template', '{{.Version}}'])).trim();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return 'Helm is not in PATH';
    throw error;
  }
  const [, major, minor] = /^v?(\d+)\.(\d+)/.exec(text) ?? [];
  const isSupported = (major === '3' && Number(minor) >= 8) || major === '4';
  return isSupported ? undefined : `Helm ${text} in PATH is not supported`;
}

/** The Helm of PATH, or a downloaded one. @throws Error that says why there is neither */
async function programOf(env: Env, site: HelmSite): Promise<string> {
  const flaw = await flawOfPath(env);
  if (flaw === undefined) return 'helm';
  try {
    return await downloadedHelm(env, site);
  } catch (error) {
    throw new Error(`${flaw}, and ${error instanceof Error ? error.message : String(error)}. ${REMEDY}`);
  }
}

async function inFolder<T>(work: (folder: string) => Promise<T>): Promise<T> {
  const folder = await mkdtemp(join(tmpdir(), 'kbuild-chart-'));
  try {
    return await work(folder);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

function verified(bytes: Uint8Array, sha256: string): Uint8Array {
  const found = hashOf(bytes);
  if (found !== sha256) throw new Error(`has SHA-256 ${found}, and the inventory says ${sha256}`);
  return bytes;
}

/** Keeps a chart in the cache. A cache that cannot be written costs the next run a download. */
async function keep(folder: string, sha256: string, bytes: Uint8Array): Promise<void> {
  try {
    await mkdir(folder, { recursive: true, mode: 0o700 });
    const made = join(folder, `.${randomUUID()}`);
    await writeFile(made, bytes, { mode: 0o600 });
    await rename(made, join(folder, `${sha256}.tgz`));
  } catch {
    // See above.
  }
}

/** The Helm that `env.PATH` finds, or if there is none that kbuild supports, that of `site`. */
export function helmOf(env: Env, site: HelmSite): Helm {
  let found: Promise<string> | undefined;
  const program = (): Promise<string> => (found ??= programOf(env, site));
  return {
    pull: async (args, sha256) => {
      const cache = cacheFolder(env, 'charts');
      const cached = await readFile(join(cache, `${sha256}.tgz`)).catch(() => undefined);
      if (cached !== undefined && hashOf(cached) === sha256) return cached;
      const helm = await program();
      return inFolder(async (folder) => {
        await run(helm, env, ['pull', ...args, '--destination', folder]);
        const [file] = (await readdir(folder)).filter((name) => name.endsWith('.tgz'));
        if (file === undefined) throw new Error('helm pull wrote no .tgz file');
        const bytes = verified(await readFile(join(folder, file)), sha256);
        await keep(cache, sha256, bytes);
        return bytes;
      });
    },
    render: async (name, chart, args, values) => {
      const helm = await program();
      return inFolder(async (folder) => {
        const file = join(folder, 'chart.tgz');
        await writeFile(file, chart, { mode: 0o600 });
        return run(helm, env, ['template', name, file, ...args, '--values', '-'], values);
      });
    },
  };
}
