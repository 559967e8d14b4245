import { setMaxListeners } from 'node:events';
import { lstatSync, mkdtempSync, readdirSync, readlinkSync, rmSync } from 'node:fs';
import { userInfo } from 'node:os';
import { join } from 'node:path';
import { ConnectError } from '../errors.ts';
import type { Host } from '../inventory/inventory.ts';
import { linuxRemote, type LinuxRemoteOptions } from '../ssh/linux.ts';
import { opensshDialler } from '../ssh/openssh.ts';
import { sshConfig } from '../ssh/ssh-config.ts';
import { sshDialler } from '../ssh/ssh2.ts';
import type { Transport } from '../ssh/transport.ts';
import { UnknownHostKey } from '../ssh/unknown-host-key.ts';
import type { HostRemote } from '../ssh/windows.ts';
import type { Context, RunLog } from './context.ts';
import { type Flags, jobDeadline } from './options.ts';
import { questions, type Questions } from './questions.ts';
import { runtimeFolder } from './user-folder.ts';

/** The name of OpenSSH for Windows. On other systems it is portable OpenSSH, e.g. `OpenSSH_9.2p1`. */
const ON_WINDOWS = /^OpenSSH_for_Windows/;
const ELSEWHERE = /^OpenSSH_[\d.]+p\d/;

/**
 * The remote of a host over its connection. @throws ConnectError when its SSH server shows that it runs another system
 */
export async function remoteOf(
  host: Host,
  transport: Transport,
  options: LinuxRemoteOptions & { readonly runId: string },
): Promise<HostRemote> {
  const { software } = transport;
  const refuse = async (message: string, remedy: string): Promise<never> => {
    await transport.close();
    throw new ConnectError(host.name, message, { retryable: false, remedy });
  };
  if (host.os === 'windows') {
    if (ELSEWHERE.test(software))
      return refuse(
        `the inventory says "os: windows", but its SSH server is ${software}`,
        'remove "os: windows" if it is a Linux host; on Windows kbuild needs OpenSSH for Windows',
      );
    const { windowsRemote } = await import('./windows-hosts.ts');
    return windowsRemote(host, transport, options);
  }
  if (ON_WINDOWS.test(software))
    return refuse(`it is a Windows host: its SSH server is ${software}`, 'say "os: windows" and "role: worker" for it');
  return linuxRemote(host, transport, options);
}

/** How the folders of this client begin: the process that made one follows, by its namespace and its number. */
const PREFIX = 'kbuild-openssh-';

/**
 * The namespace in which this process has its number, as Linux numbers them: a container has its own. 0 where the
 * system has none.
 */
function pidNamespace(): string {
  try {
    return /\d+/.exec(readlinkSync('/proc/self/ns/pid'))?.[0] ?? '0';
  } catch {
    return '0';
  }
}

/** True if no process of this number runs. */
function isGone(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return false;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ESRCH';
  }
}

/**
 * Removes the folders that killed runs of this user left. They hold configurations and control sockets without a
 * process.
 */
function removeLeftovers(parent: string, namespace: string): void {
  for (const name of readdirSync(parent)) {
    const [, of, pid] = /^kbuild-openssh-(\d+)-(\d+)-\w+$/.exec(name) ?? [];
    if (pid === undefined || of !== namespace || !isGone(Number(pid))) continue;
    const folder = join(parent, name);
    try {
      const { uid } = lstatSync(folder);
      if (uid === process.geteuid?.()) rmSync(folder, { recursive: true, force: true });
    } catch {
      // Another run removes it at the same time.
    }
  }
}

/**
 * Makes the folder for the control sockets of this run, 0700: a process that reaches a control socket is logged in.
 * Removes what killed runs left in `parent` before.
 */
export function socketFolder(parent: string): string {
  const namespace = pidNamespace();
  removeLeftovers(parent, namespace);
  return mkdtempSync(join(parent, `${PREFIX}${namespace}-${String(process.pid)}-`));
}

/** Dials again after the operator has trusted a key that no file knew: that of the host, or of a bastion before it. */
async function trusting(asked: Questions | undefined, dial: () => Promise<Transport>): Promise<Transport> {
  const recorded = new Set<string>();
  for (;;)
    try {
      return await dial();
    } catch (error) {
      if (!(error instanceof UnknownHostKey) || recorded.has(error.fingerprint)) throw error;
      if ((await asked?.trust(error)) !== true) throw error;
      recorded.add(error.fingerprint);
    }
}

/** Connects to hosts of an inventory, each with its own settings and those of the operator's ssh_config. */
interface Dialler {
  /** @throws ConnectError */
  readonly dial: (host: Host) => Promise<HostRemote>;
  /** True while the operator is asked something. */
  readonly isAsking: () => boolean;
  /** Ends all attempts to connect that are under way. */
  readonly abort: () => void;
  readonly close: () => void;
}

/** A dialler with the operator's keys, agent and known hosts. @throws UsageError for a wrong $KBUILD_JOB_DEADLINE */
export function hostDialler(context: Context, flags: Flags, run: RunLog): Dialler {
  const { runId, log, onBegin, onSecret, emit } = run;
  const jobDeadlineMs = jobDeadline(context.env);
  const dialling = new AbortController();
  // Every attempt to connect listens to this signal. From the eleventh on, Node would warn of a leak.
  setMaxListeners(0, dialling.signal);
  const home = userInfo().homedir;
  const config = sshConfig({
    home,
    noSsh: (file) =>
      context.err(
        `${file} is not read: there is no ssh program here\n  → install openssh-client, or set ssh.configFile: none\n`,
      ),
  });
  const asked = questions(context, onSecret);
  const options = {
    policy: flags.acceptNewHostKeys === true ? 'accept-new' : 'strict',
    signal: dialling.signal,
  } as const;
  const openssh = opensshDialler({ ...options, home, makeFolder: () => socketFolder(runtimeFolder(context.env)) });
  const ssh = sshDialler({
    ...options,
    agentSocket: context.env['SSH_AUTH_SOCK'],
    askPassphrase: asked?.passphrase,
  });
  return {
    async dial(host) {
      const effective = await config.applied(host);
      const client = effective.ssh.client === 'openssh' ? openssh : ssh;
      const transport = await trusting(asked, () => client.dial(effective));
      const sudoPassword = async () => effective.ssh.sudoPassword ?? (await asked?.sudo(effective.ssh.user));
      const onJobFollowed = (summary: string) => emit({ kind: 'job-followed', host: host.name, summary });
      const onJobWaits = (summary: string, about: string) => emit({ kind: 'job-waits', host: about, summary });
      const onJobLoads = (bytes: number, bytesPerSecond: number, about: string) =>
        emit({ kind: 'job-loads', host: about, bytes, bytesPerSecond });
      const asOfRun = { runId, log, onBegin, onSecret, jobDeadlineMs };
      return remoteOf(effective, transport, { ...asOfRun, sudoPassword, onJobFollowed, onJobWaits, onJobLoads });
    },
    isAsking: () => asked?.isAsking() === true,
    abort: () => dialling.abort(),
    close() {
      ssh.close();
      openssh.close();
      config.close();
    },
  };
}
