import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import type { Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import ssh2 from 'ssh2';
import type { Connection, ServerChannel } from 'ssh2';
import type { WindowsHost } from '../../../src/inventory/inventory.ts';
import { windowsHost } from '../../fakes/inventory.ts';
import { loadAnswers } from './answers.ts';
import { type DefaultShell, invocation } from './default-shell.ts';
import type { Faults } from './faults.ts';
import { freshMachine, type Machine } from './machine.ts';
import { runScript, type Runtime } from './run-script.ts';
import { type Answer, type HostControl, type Program, ScriptFailure } from './script.ts';
import { serveSftp } from './sftp.ts';

/** How the simulated host is set up. */
export interface WindowsHostOptions {
  readonly name: string;
  /** `20348` (2022), `26100` (2025). */
  readonly build?: string;
  /** Where it listens; default 127.0.0.1. */
  readonly address?: string;
  readonly shell?: DefaultShell;
  /** Default: OpenSSH_for_Windows_9.5. */
  readonly software?: string;
  readonly subsystem?: 'sftp' | 'none';
  readonly faults?: Faults;
  /** What answers may want of the test: the lab's API server and the like. */
  readonly world?: Readonly<Record<string, unknown>>;
  /** Other answers than the model's, made of those. */
  readonly answers?: (model: ReadonlyMap<string, Answer>) => ReadonlyMap<string, Answer>;
  /** What services run, by name. */
  readonly programs?: Readonly<Record<string, Program>>;
  /** How long a host that restarts still answers, and how long it is down, in ms. */
  readonly restartMs?: { readonly goingDown: number; readonly down: number };
}

/** A Windows host in this process. */
export interface SimulatedWindowsHost {
  readonly address: string;
  readonly port: number;
  /** As in known_hosts: `ssh-ed25519 AAAA...`. */
  readonly hostKey: string;
  readonly machine: Machine;
  readonly control: HostControl;
  /** How to reach it: any key is let in. */
  readonly host: WindowsHost;
  readonly began: readonly string[];
  /** What each script saw of the environment when it last began. */
  readonly environments: ReadonlyMap<string, ReadonlyMap<string, string>>;
  readonly connections: () => number;
  /** Ends all connections without a word. */
  readonly dropAll: () => void;
  /** @throws Error when a rule of Windows or of the protocol was broken meanwhile. */
  close(): Promise<void>;
}

/** DBG_TERMINATE_PROCESS: what processes end with when Windows shuts down. */
const SHUT_DOWN = 0x40010004;

function newKey(): string {
  const { private: key } = ssh2.utils.generateKeyPairSync('ed25519');
  // About one ed25519 key in 300 that ssh2 makes is one that ssh2 cannot read.
  return ssh2.utils.parseKey(key) instanceof Error ? newKey() : key;
}

function publicLine(privateKey: string): string {
  const key = ssh2.utils.parseKey(privateKey);
  if (key instanceof Error) throw key;
  return `${key.type} ${key.getPublicSSH().toString('base64')}`;
}

/** Starts it on a free port. */
export async function startWindowsHost(options: WindowsHostOptions): Promise<SimulatedWindowsHost> {
  const { name, build = '20348', address = '127.0.0.1', shell = 'cmd', software = 'OpenSSH_for_Windows_9.5' } = options;
  const { goingDown, down } = options.restartMs ?? { goingDown: 300, down: 300 };
  const machine = freshMachine(name, build, address);
  const model = await loadAnswers();
  const answers = options.answers?.(model) ?? model;
  const privateKey = newKey();
  const hostKey = publicLine(privateKey);
  const folder = mkdtempSync(join(tmpdir(), 'kbuild-windows-'));
  const open = new Set<Connection>();
  const violations: string[] = [];
  const began: string[] = [];
  const environments = new Map<string, ReadonlyMap<string, string>>();
  const counts = new Map<string, number>();
  const running = new Map<string, { readonly stop: () => Promise<void> }>();
  let connections = 0;
  let pids = 1000;
  let restarting: Promise<void> | undefined;

  const faultOf = (kind: 'script' | 'job' | 'put' | 'get', what: string) => {
    // Files are transferred to random names.
    const key = kind === 'put' || kind === 'get' ? kind : `${kind} ${what}`;
    const count = counts.get(key) ?? 0;
    counts.set(key, count + 1);
    const fault = options.faults?.({ kind, name: what, count });
    if (fault === 'restart' && (kind === 'put' || kind === 'get')) control.restart();
    return fault;
  };
  const drop = (connection: Connection): void =>
    (connection as unknown as { _sock: { destroy(): void } })._sock.destroy();
  const dropAll = (): void => {
    for (const connection of open) drop(connection);
  };

  const startService: HostControl['startService'] = async (service) => {
    const found = machine.services.get(service.toLowerCase());
    if (found === undefined) throw new ScriptFailure(`Cannot find any service with service name '${service}'.`);
    if (found.state === 'Running') return;
    for (const other of found.dependsOn) await startService(other);
    const program = options.programs?.[service.toLowerCase()];
    found.state = 'Running';
    found.startedMs = Date.now();
    if (program !== undefined) running.set(service.toLowerCase(), await program(machine, control));
  };
  const stopService: HostControl['stopService'] = async (service) => {
    const found = machine.services.get(service.toLowerCase());
    if (found === undefined) return;
    found.state = 'Stopped';
    found.startedMs = 0;
    await running.get(service.toLowerCase())?.stop();
    running.delete(service.toLowerCase());
  };

  const reboot = async (): Promise<void> => {
    await delay(goingDown);
    for (const { end } of machine.processes.values()) end(SHUT_DOWN);
    for (const service of machine.services.values()) await stopService(service.name);
    for (const task of machine.tasks.values()) if (task.state !== 'Ready') task.state = 'Ready';
    const closed = new Promise((done) => server.close(done));
    dropAll();
    await closed;
    await delay(down);
    machine.bootTimeMs = Math.max(Date.now(), machine.bootTimeMs + 60_000);
    machine.pendingReboot = false;
    machine.routes.clear();
    for (const route of machine.persistentRoutes) machine.routes.add(route);
    for (const [feature, state] of machine.features) {
      if (state === 'InstallPending') machine.features.set(feature, 'Installed');
    }
    for (const service of machine.services.values()) {
      if (service.startMode === 'Auto') await startService(service.name).catch(() => undefined);
    }
    server.listen(port, address);
    await once(listener, 'listening');
  };

  const control: HostControl = {
    world: options.world ?? {},
    answers,
    restart: () => {
      restarting ??= reboot().finally(() => {
        restarting = undefined;
      });
    },
    startService,
    stopService,
    runTask: (task, payload, workingFolder, ended, seconds) => {
      const ending = new AbortController();
      const late = setTimeout(() => ending.abort('late'), (seconds ?? 86_400) * 1000).unref();
      let output = '';
      let errors = '';
      const process = {
        kind: 'job' as const,
        environment: new Map(machine.environment),
        account: 'SYSTEM' as const,
        workingFolder,
        ending,
        stdout: (text: string) => void (output += text),
        stderr: (text: string) => void (errors += text),
        heartbeat: () => Promise.resolve(false),
        drop: () => undefined,
      };
      void runScript(runtime, process, payload).then((status) => {
        clearTimeout(late);
        // A task that was ended from outside says nothing any more; one that is late is ended by its own runner.
        if (status !== undefined) ended({ status: String(status), output, errors });
        else if (ending.signal.reason === 'late') ended({ status: 'timeout', output, errors });
        const found = machine.tasks.get(task);
        if (found !== undefined) Object.assign(found, { state: 'Ready', lastResult: status ?? 267_014 });
      });
    },
  };
  const runtime: Runtime = {
    machine,
    answers,
    control,
    violations,
    environments,
    began,
    faultOf,
    newPid: () => (pids += 4),
  };

  const server = new ssh2.Server({ hostKeys: [privateKey], ident: software }, (connection) => {
    connections++;
    open.add(connection);
    // Built once: what becomes of the machine's environment is seen by the next connection.
    const environment = new Map(machine.environment);
    connection.on('error', () => undefined);
    connection.on('close', () => open.delete(connection));
    connection.on('authentication', (login) => {
      if (login.method === 'publickey') login.accept();
      else login.reject(['publickey']);
    });
    connection.on('session', (accept) => {
      const session = accept();
      session.on('pty', (_accept, reject) => {
        violations.push('a pty was asked for');
        reject();
      });
      session.on('env', (_accept, reject) => reject());
      if (options.subsystem !== 'none') {
        serveSftp(session, machine, faultOf, () => drop(connection));
      }
      session.on('exec', (acceptExec, _reject, { command }) => {
        exec(acceptExec(), command, environment, () => drop(connection));
      });
    });
  });
  const listener = (server as unknown as { _srv: Server })._srv;
  // ssh2 leaves Nagle's algorithm on: every exchange would wait for delayed acknowledgements.
  listener.prependListener('connection', (socket) => socket.setNoDelay(true));

  const exec = (
    channel: ServerChannel,
    command: string,
    environment: ReadonlyMap<string, string>,
    dropped: () => void,
  ): void => {
    const ending = new AbortController();
    channel.on('error', () => undefined);
    // The server's job object: what runs on a channel dies with it.
    channel.on('close', () => ending.abort());
    const finish = (status: number | undefined): void => {
      if (channel.destroyed) return;
      channel.exit(status ?? (typeof ending.signal.reason === 'number' ? ending.signal.reason : 1));
      channel.end();
    };
    const asked = invocation(machine, shell, command);
    if ('refused' in asked) {
      channel.write(asked.stdout);
      channel.stderr.write(asked.refused);
      if (asked.violation !== undefined) violations.push(asked.violation);
      finish(asked.status);
      return;
    }
    // Noise, as progress records make it.
    channel.stderr.write('#< CLIXML\r\n<Objs Version="1.1.0.1"><Obj S="progress" RefId="0"></Obj></Objs>');
    const input = lines(channel);
    void (async () => {
      const line = await input.first;
      channel.write('Loading personal and system profiles took 12ms.\r\n');
      const status = await runScript(
        runtime,
        {
          kind: 'script',
          environment,
          account: 'administrator',
          ending,
          stdout: (text) => void channel.write(text),
          stderr: (text) => void channel.stderr.write(text),
          heartbeat: (ms) => input.more(ms, ending.signal),
          drop: dropped,
        },
        line,
      );
      finish(status);
    })();
  };

  server.listen(0, address);
  await once(listener, 'listening');
  const { port } = listener.address() as { port: number };
  writeFileSync(join(folder, 'login'), newKey(), { mode: 0o600 });
  writeFileSync(join(folder, 'known_hosts'), `[${address}]:${String(port)} ${hostKey}\n`);
  return {
    address,
    port,
    hostKey,
    machine,
    control,
    began,
    environments,
    connections: () => connections,
    dropAll,
    host: windowsHost(name, {
      address,
      ssh: {
        user: 'Administrator',
        port,
        identityFiles: [join(folder, 'login')],
        knownHostsFiles: [join(folder, 'known_hosts')],
      },
    }),
    async close() {
      await restarting;
      for (const service of machine.services.values()) await stopService(service.name);
      for (const { end } of machine.processes.values()) end();
      dropAll();
      server.close();
      rmSync(folder, { recursive: true, force: true });
      if (violations.length > 0) throw new Error(`${name}: ${violations.join('\n')}`);
    },
  };
}

/** The first line that comes in, and then whatever follows. */
function lines(channel: ServerChannel) {
  let text = '';
  let more = 0;
  let ended = false;
  let wake = (): void => undefined;
  let give: (line: string) => void = () => undefined;
  const first = new Promise<string>((resolve) => {
    give = resolve;
  });
  let had = false;
  channel.on('data', (chunk: Buffer) => {
    if (had) {
      more += chunk.length;
      wake();
      return;
    }
    text += chunk.toString('latin1');
    const end = text.indexOf('\n');
    if (end === -1) return;
    had = true;
    more += text.length - end - 1;
    give(text.slice(0, end));
  });
  const over = (): void => {
    ended = true;
    if (!had) give(text);
    wake();
  };
  channel.on('end', over);
  channel.on('close', over);
  return {
    first,
    async more(ms: number, signal: AbortSignal): Promise<boolean> {
      if (more === 0 && !ended) {
        await Promise.race([
          new Promise<void>((resolve) => {
            wake = resolve;
          }),
          delay(ms, undefined, { signal, ref: false }).catch(() => undefined),
        ]);
      }
      const came = more > 0;
      more = 0;
      return came;
    },
  };
}
