import { randomBytes } from 'node:crypto';
import { setMaxListeners } from 'node:events';
import { userInfo } from 'node:os';
import { eachLimit } from '../../each-limit.ts';
import type { Emit } from '../../engine/event.ts';
import { watch, type Watch } from '../../engine/watch.ts';
import { ConnectError, exitCodeOf } from '../../errors.ts';
import type { ClusterView } from '../../facts/cluster.ts';
import { clusterBeside } from '../../facts/cluster-beside.ts';
import { clusterFacts, observeCluster } from '../../facts/observe-cluster.ts';
import type { Fleet, Observed } from '../../facts/fleet.ts';
import { observeLinux, type Ask } from '../../facts/observe-linux.ts';
import { observeWindows } from '../../facts/observe-windows.ts';
import type { Host, Inventory, LinuxHost } from '../../model/inventory.ts';
import { observedObjects } from '../../phases/wanted-objects.ts';
import { isWindowsRemote, type HostRemote } from '../../remote/host-remote.ts';
import type { On } from '../../remote/remote.ts';
import type { Secret } from '../../shell/secret.ts';
import { sshConfig } from '../../transport/ssh-config.ts';
import { opensshDialler } from '../../transport/openssh/dialler.ts';
import { sshDialler } from '../../transport/ssh.ts';
import type { LeftOut } from '../../cluster/change-refusals.ts';
import type { Context } from '../context.ts';
import { remoteOf } from './remote-of.ts';
import { DEFAULT_CONCURRENCY, jobDeadline, type Flags } from '../options.ts';
import { passwords } from './passwords.ts';

/** All hosts of an inventory that answered, observed once. */
export interface Connected {
  readonly inventory: Inventory;
  /** The fleet as it is known now. */
  readonly watch: Watch;
  readonly on: On;
  /** Remotes of the hosts that were observed, sorted by name. */
  readonly remotes: readonly HostRemote[];
  /** When the last look at everything began, in ms as `Context.nowMs` tells them. */
  readonly lookedAtMs: number;
  /** Observes anew what was observed before, no other host: `watch` is another one afterwards. */
  readonly lookAgain: () => Promise<void>;
  /** From now on these hosts count as not reached: they are not observed, locked or changed. `watch` is another one afterwards. */
  readonly leaveOut: (hosts: readonly LeftOut[]) => void;
  readonly close: () => Promise<void>;
}

/** Where a run reports to. */
export interface RunLog {
  readonly runId: string;
  readonly emit: Emit;
  readonly log: (entry: object) => void;
  /** Told every command on a host when it begins. */
  readonly onBegin?: ((entry: { readonly host: string; readonly command: string }) => void) | undefined;
  /** Told every secret that becomes known, so that nothing shows it. */
  readonly onSecret: (secret: Secret) => void;
  /** Aborted: nobody wants to be connected any more. */
  readonly signal: AbortSignal;
}

const nonce = (): string => randomBytes(12).toString('hex');

/** Dials and observes every host, many at once. A host that does not answer is in `fleet.unreachable`, nothing is thrown. */
export async function connect(context: Context, inventory: Inventory, flags: Flags, run: RunLog): Promise<Connected> {
  const { nowMs } = context;
  const limit = flags.concurrency ?? DEFAULT_CONCURRENCY;
  const remotes = new Map<string, HostRemote>();
  const { hosts } = inventory;
  const jobDeadlineMs = jobDeadline(context.env);

  const on: On = (host) => {
    const remote = remotes.get(host.name);
    if (remote === undefined) throw new ConnectError(host.name, 'not connected', { retryable: false });
    return remote as never;
  };
  const questions = passwords(context, run.onSecret);
  const dialling = new AbortController();
  // Every host that is being dialled listens: no leak, which Node would warn of from the eleventh on.
  setMaxListeners(0, dialling.signal);
  const home = userInfo().homedir;
  const config = sshConfig({
    home,
    noSsh: (file) =>
      context.err(
        `${file} is not read: there is no ssh program here\n  → install openssh-client, or set ssh.configFile: none\n`,
      ),
  });
  const policy = flags.acceptNewHostKeys === true ? 'accept-new' : 'strict';
  const openssh = opensshDialler({ policy, home, signal: dialling.signal });
  const dialler = sshDialler({
    policy,
    agentSocket: context.env['SSH_AUTH_SOCK'],
    askPassphrase: questions?.passphrase,
    signal: dialling.signal,
  });
  const dial = async (host: Host): Promise<HostRemote> => {
    const effective = await config.applied(host);
    const transport = await (effective.ssh.client === 'openssh' ? openssh : dialler).dial(effective);
    const remote = await remoteOf(effective, transport, {
      runId: run.runId,
      log: run.log,
      onBegin: run.onBegin,
      sudoPassword: async () => effective.ssh.sudoPassword ?? (await questions?.sudo(effective.ssh.user)),
      onSecret: run.onSecret,
      onJobFollowed: (summary) => run.emit({ kind: 'job-followed', host: host.name, summary }),
      jobDeadlineMs,
      onJobWaits: (summary, about) => run.emit({ kind: 'job-waits', host: about, summary }),
    });
    remotes.set(host.name, remote);
    return remote;
  };
  const asking =
    (host: LinuxHost): Ask =>
    (command) => {
      const remote = remotes.get(host.name)!;
      if (isWindowsRemote(remote)) throw new TypeError(`${host.name} is a Windows host`);
      return remote.ask(command);
    };
  const loginMs = (host: LinuxHost): number | undefined => {
    const remote = remotes.get(host.name)!;
    return isWindowsRemote(remote) ? undefined : remote.transport.loginMs;
  };
  const wanted = observedObjects(inventory);
  const observed = async (host: Host, names?: readonly string[]): Promise<Observed> => {
    const remote = remotes.get(host.name)!;
    if (host.os === 'windows' && isWindowsRemote(remote))
      return {
        os: 'windows',
        host,
        facts: await observeWindows(
          (command, withinMs) => remote.ask(command, withinMs),
          inventory,
          host,
          { nowMs },
          names,
        ),
      };
    const linux = host as LinuxHost;
    return {
      os: 'linux',
      host: linux,
      facts: await observeLinux(asking(linux), inventory, linux, { nowMs, nonce, loginMs: loginMs(linux) }, names),
    };
  };
  const cluster = (seen: readonly Observed[]): Promise<ClusterView> =>
    observeCluster(inventory, seen, asking, wanted, { nowMs, nonce });

  let lookedAtMs = nowMs();
  const leftOut = new Set<string>();
  const lookAtHosts = async (reach: (host: Host) => Promise<unknown>): Promise<Omit<Fleet, 'cluster'>> => {
    const seen: Observed[] = [];
    const unreachable: { host: Host; error: Error; isDead: boolean }[] = [];
    const results = await eachLimit(hosts, limit, async (host): Promise<Observed> => {
      await reach(host);
      return observed(host);
    });
    results.forEach((result, index) => {
      if (result.status === 'fulfilled') seen.push(result.value);
      else {
        const error = result.reason as Error;
        if (exitCodeOf(error) === 1) throw error;
        const host = hosts[index]!;
        unreachable.push({ host, error, isDead: flags.dead?.includes(host.name) === true });
        if (!run.signal.aborted && !leftOut.has(host.name))
          run.emit({ kind: 'unreachable', host: host.name, message: error.message });
      }
    });
    return { hosts: seen, unreachable };
  };
  /** `known`: what was seen of the hosts before. */
  const look = async (reach: (host: Host) => Promise<unknown>, known: readonly Observed[]): Promise<Fleet> => {
    const startedMs = nowMs();
    lookedAtMs = startedMs;
    const looking = lookAtHosts(reach);
    const view = await clusterBeside(
      cluster,
      known,
      looking.then((seen) => seen.hosts),
    );
    const seen = await looking;
    run.emit({ kind: 'observed', hosts: seen.hosts.length, durationMs: nowMs() - startedMs });
    return { ...seen, cluster: view };
  };
  const watching = (fleet: Fleet): Watch =>
    watch(fleet, {
      facts: async (host, names) => (await observed(host, names)).facts,
      cluster,
      clusterFacts,
      nowMs,
    });

  const close = async (): Promise<void> => {
    await Promise.all([...remotes.values()].map((remote) => remote.close()));
    dialler.close();
    openssh.close();
    config.close();
  };

  run.emit({ kind: 'connecting', hosts: hosts.map(({ name }) => name) });
  let current: Watch;
  const stop = (): void => {
    dialling.abort();
    void close();
  };
  run.signal.addEventListener('abort', stop);
  try {
    current = watching(await look(dial, []));
    run.signal.throwIfAborted();
  } catch (error) {
    // Open connections would keep the process alive after its error.
    await close();
    throw run.signal.aborted ? run.signal.reason : error;
  } finally {
    run.signal.removeEventListener('abort', stop);
  }
  return {
    inventory,
    get watch() {
      return current;
    },
    get lookedAtMs() {
      return lookedAtMs;
    },
    on,
    get remotes() {
      const seen = new Set(current.fleet().hosts.map(({ host }) => host.name));
      return [...remotes.values()]
        .filter(({ host }) => seen.has(host.name))
        .sort((a, b) => (a.host.name < b.host.name ? -1 : 1));
    },
    lookAgain: async () => {
      const { hosts: known, unreachable } = current.fleet();
      const missing = new Map(unreachable.map(({ host, error }) => [host.name, error]));
      // A host that was missing before has no lock of this run: the next run takes it.
      const reach = (host: Host) => {
        const error = missing.get(host.name);
        return error === undefined ? Promise.resolve() : Promise.reject(error);
      };
      current = watching(await look(reach, known));
    },
    leaveOut: (refused) => {
      const names = new Set(refused.map(({ host }) => host.name));
      for (const name of names) leftOut.add(name);
      const { hosts: seen, unreachable, cluster: view } = current.fleet();
      const kept = seen.filter(({ host }) => !names.has(host.name));
      current = watching({ hosts: kept, unreachable: [...unreachable, ...refused], cluster: view });
    },
    close,
  };
}
