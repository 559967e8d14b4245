import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import type { LinuxHost } from '../../src/inventory/inventory.ts';
import { linuxHost } from '../fakes/inventory.ts';
import { pathOf } from '../needs/table.ts';

/** A real sshd on a free port of 127.0.0.1, with keys of its own. */
export interface Sshd {
  readonly folder: string;
  readonly port: number;
  readonly host: LinuxHost;
  readonly process: ChildProcess;
  /** Processes that serve one connection each. */
  connectionProcesses(): readonly number[];
  /** The processes of sshd behind them too: for a user who is not root each connection has a monitor and its child (sshd(8)). */
  servingProcesses(): readonly number[];
  stop(): Promise<void>;
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as { port: number };
  server.close();
  await once(server, 'close');
  return port;
}

function answers(port: number): boolean {
  try {
    return (
      execFileSync('ssh-keyscan', ['-t', 'ed25519', '-T', '2', '-p', String(port), '127.0.0.1'], { stdio: 'pipe' })
        .length > 0
    );
  } catch {
    return false;
  }
}

const childrenOf = (pid: number): readonly number[] =>
  readFileSync(`/proc/${String(pid)}/task/${String(pid)}/children`, 'utf8')
    .split(' ')
    .map(Number)
    .filter((child) => child > 0);

const servingBelow = (pid: number): readonly number[] =>
  childrenOf(pid)
    .filter((child) => readFileSync(`/proc/${String(child)}/comm`, 'utf8').startsWith('sshd'))
    .flatMap((child) => [child, ...servingBelow(child)]);

function end(pid: number): void {
  try {
    process.kill(pid);
  } catch (error) {
    // It has ended by itself.
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}

const isRoot = process.geteuid?.() === 0;

/** A folder with a sudo for an ordinary user: it runs the command as that user. */
function standInSudo(folder: string): string {
  const bin = join(folder, 'bin');
  mkdirSync(bin);
  writeFileSync(
    join(bin, 'sudo'),
    '#!/bin/sh\nwhile :; do case $1 in -p) shift 2 ;; -*) shift ;; *) break ;; esac; done\nexec "$@"\n',
    { mode: 0o755 },
  );
  return bin;
}

/**
 * Starts it; `config` are further lines of sshd_config, `accounts` the login shell of root in its world, or a change
 * of all accounts there, and `init` the name of its process 1 (as root only).
 * As an ordinary user it serves that user alone, who becomes root by a sudo that changes nothing.
 */
export async function startSshd(
  config: readonly string[] = [],
  accounts?: string | ((passwd: string) => string),
  init?: string,
): Promise<Sshd> {
  const folder = mkdtempSync(join(tmpdir(), 'kbuild-sshd-'));
  const file = (name: string) => join(folder, name);
  // Where sshd separates the privileges of root; systemd makes it for the packaged service.
  if (isRoot) mkdirSync('/run/sshd', { recursive: true });
  for (const name of ['host', 'login'])
    execFileSync('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-C', 'test', '-f', file(name)]);
  writeFileSync(file('authorized_keys'), readFileSync(file('login.pub')), { mode: 0o600 });
  const port = await freePort();
  const key = readFileSync(file('host.pub'), 'utf8').split(' ').slice(0, 2).join(' ');
  writeFileSync(file('known_hosts'), `[127.0.0.1]:${String(port)} ${key}\n`);
  writeFileSync(
    file('config'),
    [
      `Port ${String(port)}`,
      'ListenAddress 127.0.0.1',
      `HostKey ${file('host')}`,
      `AuthorizedKeysFile ${file('authorized_keys')}`,
      'StrictModes no',
      'PasswordAuthentication no',
      'UsePAM no',
      'PidFile none',
      `SetEnv HOME=${folder}${isRoot ? '' : ` PATH=${standInSudo(folder)}:/usr/local/bin:/usr/bin:/bin`}`,
      ...config,
      '',
    ].join('\n'),
  );
  let command = [pathOf('sshd'), '-D', '-e', '-f', file('config')];
  if (accounts !== undefined || init !== undefined) {
    const change =
      accounts === undefined
        ? (passwd: string) => passwd
        : typeof accounts === 'string'
          ? (passwd: string) => passwd.replace(/^(root:.*:)[^:]*$/m, `$1${accounts}`)
          : accounts;
    writeFileSync(file('passwd'), change(readFileSync('/etc/passwd', 'utf8')));
    writeFileSync(file('comm'), init === undefined ? readFileSync('/proc/1/comm', 'utf8') : `${init}\n`);
    const mounts = 'mount --bind "$0/passwd" /etc/passwd && mount --bind "$0/comm" /proc/1/comm && exec "$@"';
    command = ['unshare', '-m', 'sh', '-c', mounts, folder, ...command];
  }
  const child = spawn(command[0]!, command.slice(1), { stdio: ['ignore', 'ignore', 'pipe'] });
  let said = '';
  child.stderr.on('data', (chunk: Buffer) => (said += chunk.toString()));
  const deadline = Date.now() + 10_000;
  while (!answers(port)) {
    if (child.exitCode !== null || Date.now() > deadline) throw new Error(`sshd does not start: ${said}`);
  }
  return {
    folder,
    port,
    process: child,
    host: linuxHost('real', {
      address: '127.0.0.1',
      ssh: {
        user: userInfo().username,
        port,
        identityFiles: [file('login')],
        knownHostsFiles: [file('known_hosts')],
      },
    }),
    connectionProcesses: () => childrenOf(child.pid!),
    servingProcesses: () => servingBelow(child.pid!),
    async stop() {
      for (const pid of childrenOf(child.pid!)) end(pid);
      child.kill();
      if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
