import { spawn } from 'node:child_process';
import { accessSync, constants, statSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { constants as system, tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { administratorOn } from '../cluster/fleet/channel.ts';
import { apiServerAt } from '../cluster/fleet/places.ts';
import { Detour } from '../cluster/fleet/https-peer.ts';
import { notLive } from '../cluster/live.ts';
import { ConnectError, UsageError } from '../errors.ts';
import { controlPlanes } from '../inventory/hosts.ts';
import type { Inventory, LinuxHost } from '../inventory/inventory.ts';
import type { Context } from '../session/context.ts';
import type { Run, RunOptions } from '../session/run.ts';
import { withRun } from '../session/with-run.ts';
import { madeOf, type Secret } from '../shell/secret.ts';
import { isWindowsRemote } from '../ssh/windows.ts';
import { type ApiListener, type ApiServerBehind, listenForApi } from './api-listener.ts';
import { writePrivate } from './kubeconfig.ts';
import type { KubectlOptions, ProxyOptions } from './tools.command.ts';

/** Options of kubectl that lead to another cluster or user, where this command would be passed by. */
const ELSEWHERE = ['--kubeconfig', '--server', '-s', '--context', '--cluster', '--user'];

/** @throws UsageError for arguments that kubectl would not send to the cluster of the inventory */
function checkArguments(args: readonly string[]): void {
  const own = args.includes('--') ? args.slice(0, args.indexOf('--')) : args;
  const found = own.find((arg) => ELSEWHERE.includes(arg.split('=', 1)[0]!));
  if (found === undefined) return;
  throw new UsageError(`${found} leads kubectl elsewhere than to the cluster of the inventory`, {
    remedy: 'leave it out, or run kubectl itself',
  });
}

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}

/** @throws UsageError where no folder of PATH has kubectl */
function kubectlIn({ env }: Pick<Context, 'env'>): string {
  const folders = (env['PATH'] ?? '').split(delimiter).filter((folder) => folder !== '');
  const found = folders.map((folder) => join(folder, 'kubectl')).find(isProgram);
  if (found !== undefined) return found;
  throw new UsageError('kubectl is not on this machine: no folder of PATH has it; no host was contacted', {
    remedy: 'install kubectl (https://kubernetes.io/docs/tasks/tools/), or add its folder to PATH',
  });
}

/** A kubeconfig that leads to the listener. It holds nothing of the cluster's own. */
const leadingThere = ({ name }: Inventory, { server, ca, token }: ApiListener): Secret =>
  madeOf(token, (word) =>
    JSON.stringify({
      ...{ apiVersion: 'v1', kind: 'Config', preferences: {}, 'current-context': name },
      clusters: [{ name, cluster: { server, 'certificate-authority-data': Buffer.from(ca).toString('base64') } }],
      users: [{ name, user: { token: word } }],
      contexts: [{ name, context: { cluster: name, user: name } }],
    }),
  );

/** The API servers of other control planes, which are dialled when they are needed. */
function otherServers({ connected, inventory }: Run, first: LinuxHost): readonly ApiServerBehind[] {
  const others = controlPlanes(inventory).filter(({ name }) => name !== first.name);
  return others.map((host) => {
    let dialled: ReturnType<typeof connected.dialled> | undefined;
    return {
      server: apiServerAt(inventory, host),
      forward: async (address, port) => {
        // Requests come many at once, and a host that does not answer now may do so later.
        dialled ??= connected.dialled(host);
        const remote = await dialled.catch((error: unknown) => {
          dialled = undefined;
          throw error;
        });
        return remote.forward(address, port);
      },
    };
  });
}

/** The API of the cluster on this machine. @throws ConnectError where it does not answer, or sshd forwards nothing */
async function listening(run: Run): Promise<ApiListener> {
  const { connected, context, inventory } = run;
  const fleet = connected.observations.fleet();
  const { cluster } = fleet;
  const error = (host: string, why: string, remedy?: string): ConnectError =>
    new ConnectError(host, why, { retryable: false, ...(remedy === undefined ? {} : { remedy }) });
  if (cluster.state === 'down') throw error(inventory.name, cluster.reason);
  if (cluster.state === 'absent') throw notLive({ inventory, fleet })!;
  const host = controlPlanes(inventory).find(({ name }) => name === cluster.via)!;
  const remote = connected.remotes.find((one) => one.host.name === host.name)!;
  if (isWindowsRemote(remote)) throw new TypeError(`${host.name} is a Windows host`);
  try {
    const server = apiServerAt(inventory, host);
    const identity = await administratorOn(remote);
    const forward = (address: string, port: number) => remote.forward(address, port);
    const tried = await forward(server.host, server.port);
    if (tried.kind !== 'open') throw new Detour(tried.reason);
    tried.stream.destroy();
    return await listenForApi(
      { servers: [{ forward, server }, ...otherServers(run, host)], identity },
      context.nowMs(),
    );
  } catch (reason) {
    if (!(reason instanceof Detour)) throw reason;
    throw error(
      host.name,
      `the API cannot be reached through SSH: ${reason.message}`,
      'allow AllowTcpForwarding in its sshd_config, or use `kbuild kubeconfig`',
    );
  }
}

/** Calls `use` with the path of a kubeconfig that only this user can read, and that leads nowhere afterwards. */
async function withListener(run: Run, use: (path: string) => Promise<number>): Promise<number> {
  const listener = await listening(run);
  // XDG_RUNTIME_DIR is no disk. mkdtemp makes folders 0700.
  const folder = await mkdtemp(join(run.context.env['XDG_RUNTIME_DIR'] ?? tmpdir(), 'kbuild-api-'));
  try {
    const path = join(folder, 'kubeconfig');
    await writePrivate(path, leadingThere(run.inventory, listener));
    return await use(path);
  } finally {
    listener.close();
    await rm(folder, { recursive: true, force: true });
  }
}

/** Runs kubectl on the streams of this process; its exit code, or 128 and the number of the signal that ended it. */
function ran(program: string, args: readonly string[], { context, signal }: Run, path: string): Promise<number> {
  const child = spawn(program, args, { stdio: 'inherit', env: { ...context.env, KUBECONFIG: path } });
  // Ctrl-C reaches kubectl through the terminal too; `kill` of kbuild alone would not.
  const pass = (): void => void child.kill('SIGINT');
  signal.addEventListener('abort', pass, { once: true });
  return new Promise<number>((resolve, reject) => {
    child.once('error', reject);
    child.once('exit', (code, by) => resolve(code ?? 128 + (by === null ? 0 : system.signals[by])));
  }).finally(() => signal.removeEventListener('abort', pass));
}

const optionsOf = (command: string): RunOptions => ({
  ...{ command, json: 'document', isThroughOne: true, reportsUnreachable: true, changesVersion: true },
  isEndless: true,
});

/** `kbuild kubectl -- ARGUMENTS`: kubectl of this machine, with the API through SSH. */
export async function runKubectl(outer: Context, flags: KubectlOptions, args: readonly string[]): Promise<number> {
  checkArguments(args);
  const program = kubectlIn(outer);
  const quiet = flags.verbose !== true;
  return withRun(outer, { ...flags, quiet }, optionsOf('kubectl'), (run) =>
    withListener(run, (path) => ran(program, args, run, path)),
  );
}

const INTERRUPTED = 130;

/** `kbuild proxy`: the API on this machine until the run is interrupted. */
export const runProxy = (outer: Context, flags: ProxyOptions): Promise<number> =>
  withRun(outer, flags, optionsOf('proxy'), (run) =>
    withListener(run, async (path) => {
      const { context, signal } = run;
      context.out(`export KUBECONFIG='${path.replaceAll("'", String.raw`'\''`)}'\n`);
      if (flags.quiet !== true)
        context.err('run this line in another terminal; it leads kubectl to the cluster until Ctrl-C here\n');
      const stopped = new Promise<void>((resolve) => {
        signal.addEventListener('abort', () => resolve(), { once: true });
      });
      if (!signal.aborted) await stopped;
      return INTERRUPTED;
    }),
  );
