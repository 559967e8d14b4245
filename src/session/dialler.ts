import { setMaxListeners } from 'node:events';
import { userInfo } from 'node:os';
import { ConnectError, Interrupted } from '../errors.ts';
import type { Host } from '../inventory/inventory.ts';
import { Secret } from '../shell/secret.ts';
import { keyText, UnknownHostKey } from '../ssh/host-key-guard.ts';
import { recordHostKey } from '../ssh/known-hosts.ts';
import { linuxRemote, type LinuxRemoteOptions } from '../ssh/linux.ts';
import { opensshDialler } from '../ssh/openssh.ts';
import { sshConfig } from '../ssh/ssh-config.ts';
import { sshDialler } from '../ssh/ssh2.ts';
import type { Transport } from '../ssh/transport.ts';
import type { HostRemote } from '../ssh/windows.ts';
import type { Context, RunLog } from './context.ts';
import { type Flags, jobDeadline } from './options.ts';
import { runtimeFolder, socketFolder } from './user-folder.ts';

/** What kbuild asks the operator while it connects. One question at a time, however many hosts wait. */
interface Questions {
  /** The sudo password of a user, the same on all hosts where that user logs in. Asked once in a run. */
  readonly sudo: (user: string) => Promise<Secret>;
  /** The passphrase of a key file. Asked once in a run. */
  readonly passphrase: (file: string) => Promise<Secret>;
  /** Asks, as ssh does, whether to trust a host key that no file knows; records it on a yes. False on a no. */
  readonly trust: (unknown: UnknownHostKey) => Promise<boolean>;
  /** True while a question waits for its answer. */
  readonly isAsking: () => boolean;
}

/** The first lines and the question are those of ssh(1), so that the operator knows them. */
const introduction = ({ host, where, key, file }: UnknownHostKey): string =>
  [
    `The authenticity of host '${host} (${where})' can't be established.`,
    `${keyText(key)}.`,
    `The key is not known. A yes records it in ${file ?? 'no file'}.`,
    '',
  ].join('\n');

/** `yes`, or the fingerprint itself: the operator has it from another source, and kbuild compares it. */
async function isTrusted({ ask, err }: Pick<Context, 'ask' | 'err'>, unknown: UnknownHostKey): Promise<boolean> {
  err(introduction(unknown));
  let question = 'Are you sure you want to continue connecting (yes/no/[fingerprint])? ';
  for (;;) {
    const answer = (await ask(question)).trim();
    if (answer.toLowerCase() === 'yes' || answer === unknown.fingerprint) return true;
    if (answer.toLowerCase() === 'no') return false;
    question = answer.startsWith('SHA256:')
      ? "This is not the fingerprint of the key. Please type 'no', or the fingerprint: "
      : "Please type 'yes', 'no' or the fingerprint: ";
  }
}

/** undefined if there is no terminal to ask on. Calls `onSecret` for every secret that is typed. */
export function questions(context: Context, onSecret: (secret: Secret) => void): Questions | undefined {
  if (!context.canAsk) return undefined;
  const answers = new Map<string, Promise<unknown>>();
  let last: Promise<unknown> = Promise.resolve();
  let open = 0;
  const once = <T>(question: string, ask: () => Promise<T>): Promise<T> => {
    const known = answers.get(question) as Promise<T> | undefined;
    if (known !== undefined) return known;
    open += 1;
    const answer = last
      .then((before) => {
        // An operator who ends one question answers no other.
        if (before instanceof Interrupted) throw before;
        return ask();
      })
      .finally(() => (open -= 1));
    last = answer.catch((error: unknown) => error);
    answers.set(question, answer);
    return answer;
  };
  const secret = (question: string): Promise<Secret> =>
    once(question, async () => {
      const typed = Secret.of(await context.askHidden(question));
      onSecret(typed);
      return typed;
    });
  return {
    sudo: (user) => secret(`sudo password of ${user}: `),
    passphrase: (file) => secret(`Passphrase of ${file}: `),
    // Bastions are shared: their key is asked about once.
    trust: (unknown) =>
      once(`${unknown.where} ${unknown.fingerprint}`, async () => {
        if (unknown.file === undefined || !(await isTrusted(context, unknown))) return false;
        recordHostKey(unknown.file, unknown.known.address, unknown.known.port, unknown.key);
        return true;
      }),
    isAsking: () => open > 0,
  };
}

/** The name of OpenSSH for Windows. On other systems it is portable OpenSSH, e.g. `OpenSSH_9.2p1`. */
const ON_WINDOWS = /^OpenSSH_for_Windows/;
const ELSEWHERE = /^OpenSSH_[\d.]+p\d/;

/**
 * The remote of a host over its connection. @throws ConnectError when its SSH server shows that it runs another system
 */
async function remoteOf(
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
    const { windowsRemote } = await import('../ssh/windows.ts');
    return windowsRemote(host, transport, options);
  }
  if (ON_WINDOWS.test(software))
    return refuse(`it is a Windows host: its SSH server is ${software}`, 'say "os: windows" and "role: worker" for it');
  return linuxRemote(host, transport, options);
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
