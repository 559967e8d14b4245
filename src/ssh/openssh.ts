import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Host } from '../inventory/inventory.ts';
import { limiter } from '../limit.ts';
import { type Pause, pause as realPause } from '../wait.ts';
import { withRetries } from './connect-error.ts';
import type { HostKeyPolicy } from './host-key-guard.ts';
import { configFile } from './openssh-config.ts';
import { opensshFailure } from './openssh-failure.ts';
import { connectMaster } from './openssh-master.ts';
import { overLinks } from './reconnect.ts';
import type { SshDialler } from './ssh2.ts';
import { whereOf } from './target.ts';

/** How to dial with the system's OpenSSH. */
export interface OpensshOptions {
  readonly policy: HostKeyPolicy;
  /** The user's home folder. */
  readonly home: string;
  /**
   * Makes the folder for configurations and control sockets, which no other user may enter: a process that reaches a
   * control socket is logged in. Default: below the system's folder of temporary files.
   */
  readonly makeFolder?: () => string;
  /** Until the host answers, in ms; default 10 s. */
  readonly connectTimeoutMs?: number;
  /** Gives up dialling. */
  readonly signal?: AbortSignal;
  readonly pause?: Pause;
  /** 0 ≤ x < 1, for the jitter of retries. */
  readonly random?: () => number;
}

const CONNECT_MS = 10_000;
/** Added to the time to answer, in ms: the operator may have to touch a security key. */
const LOGIN_MS = 30_000;
/** Its handshakes take longer than the built-in client's: a server that takes few at once refuses more of them. */
const RETRIES = 6;
/** sshd's default MaxStartups is 10, and a bastion is connected to once for each host. */
const HANDSHAKES = 8;

/** True if this machine's ssh knows the option. False for an ssh that does not start: connecting says why. */
const knowsOption = (option: string): Promise<boolean> =>
  new Promise((resolve) => {
    execFile('ssh', ['-F', 'none', '-o', option, '-G', '--', 'localhost'], { timeout: CONNECT_MS }, (error) =>
      resolve(error === null),
    );
  });

/**
 * Dials with the system's OpenSSH instead of the built-in client: whatever it can do (host and user certificates,
 * `@cert-authority`, security keys, post-quantum key exchange, ProxyCommand), kbuild can. One process a connection, one
 * more for each command under way.
 */
export function opensshDialler(options: OpensshOptions): SshDialler {
  const pause = options.pause ?? realPause;
  const connectTimeoutMs = options.connectTimeoutMs ?? CONNECT_MS;
  const makeFolder = options.makeFolder ?? (() => mkdtempSync(join(tmpdir(), 'kbuild-openssh-')));
  const handshakes = limiter(HANDSHAKES);
  let folder: string | undefined;
  let made = 0;
  let known: Promise<boolean> | undefined;

  const connect = async (host: Host) => {
    const hasKnownHostsCommand = await (known ??= knowsOption('KnownHostsCommand=none'));
    const place = (folder ??= makeFolder());
    const name = String(++made);
    const put = (file: string, text: string): string => {
      const path = join(place, file);
      writeFileSync(path, text, { mode: 0o600 });
      return path;
    };
    const config = put(`config-${name}`, configFile(host, { ...options, connectTimeoutMs, hasKnownHostsCommand, put }));
    const { bastions = [], throughOthers = false } = host.ssh;
    const giveBack = bastions.length > 0 || throughOthers ? await handshakes.take() : () => undefined;
    try {
      return await connectMaster({
        ...options,
        config,
        address: host.address,
        socket: join(place, name),
        pause,
        deadlineMs: connectTimeoutMs + LOGIN_MS,
      });
    } catch (error) {
      throw opensshFailure(host, (error as Error).message);
    } finally {
      giveBack();
    }
  };

  return {
    dial: (host) =>
      overLinks(
        host.name,
        whereOf(host),
        () => withRetries(() => connect(host), { ...options, pause, retries: RETRIES }),
        pause,
      ),
    close: () => {
      if (folder !== undefined) rmSync(folder, { recursive: true, force: true });
      folder = undefined;
    },
  };
}
