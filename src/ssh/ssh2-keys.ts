import { createPrivateKey, sign } from 'node:crypto';
import { existsSync, statSync } from 'node:fs';
import { homedir, userInfo } from 'node:os';
import ssh2 from 'ssh2';
import type { AgentAuthMethod, BaseAgent, ParsedKey, PublicKeyAuthMethod, SignCallback } from 'ssh2';
import type { Login } from '../inventory/host-settings.ts';
import { readPlainFile } from '../shell/plain-file.ts';
import { revealed, Secret } from '../shell/secret.ts';
import { systemText } from '../shell/text.ts';

// CommonJS: Node finds no named exports in it.

/** One way to log in; each counts against the server's MaxAuthTries. */
type LoginMethod = PublicKeyAuthMethod | AgentAuthMethod;

/** Why there is no way to log in, and what to do. */
export class KeyProblem extends Error {
  readonly remedy: string;

  constructor(message: string, remedy: string, cause?: unknown) {
    super(message, { cause });
    this.remedy = remedy;
  }
}

/** How to log in to one machine. */
interface Keys {
  /** In the order of the identity files; without any, whatever the agent holds. */
  readonly methods: readonly LoginMethod[];
  /** Why others of the identity files are left out, as OpenSSH leaves them out. */
  readonly leftOut: readonly string[];
}

/** Keys of files and of the agent. A run reads and unlocks each of them once. */
export interface Keyring {
  /** @throws KeyProblem when there is none at all */
  keys(login: Login): Promise<Keys>;
}

/** Where keys come from besides files. */
export interface KeyringOptions {
  /** $SSH_AUTH_SOCK */
  readonly agentSocket?: string | undefined;
  /** Prompts the operator for the passphrase of a key file; missing without a terminal. */
  readonly askPassphrase?: ((file: string) => Promise<Secret>) | undefined;
}

/** A keyring of one run. */
export function keyring({ agentSocket, askPassphrase }: KeyringOptions): Keyring {
  const socket = agentSocket === '' ? undefined : agentSocket;
  let held: Promise<readonly ParsedKey[]> | undefined;
  const files = new Map<string, Promise<Omit<PublicKeyAuthMethod, 'username'> | Omit<AgentAuthMethod, 'username'>>>();
  // One prompt at a time: several encrypted keys must not prompt at once.
  let asked: Promise<unknown> = Promise.resolve();

  const ask = (file: string): Promise<Secret | undefined> => {
    const answer = asked.then(() => askPassphrase?.(file));
    asked = answer.catch(() => undefined);
    return answer;
  };
  const read = async (file: string, passphrase: Secret | undefined) => {
    // An agent that does not answer holds nothing: the file may do without it.
    const inAgent = socket === undefined ? [] : await (held ??= agentKeys(socket)).catch(() => []);
    const wanted = publicKeyOf(file);
    const signer = wanted === undefined ? undefined : inAgent.find((key) => key.getPublicSSH().equals(wanted));
    if (signer !== undefined) return { type: 'agent' as const, agent: agentOfOne(socket!, signer) };
    return { type: 'publickey' as const, key: signingQuickly(await privateKey(file, passphrase, ask)) };
  };

  return {
    async keys({ user: username, identityFiles, passphrase }) {
      if (identityFiles === undefined) {
        if (socket === undefined) throw noAgent();
        refuseEmpty(
          socket,
          await (held ??= agentKeys(socket)).catch((error: unknown) => Promise.reject(silentAgent(socket, error))),
        );
        return { methods: [{ type: 'agent', username, agent: socket }], leftOut: [] };
      }
      const found = await Promise.allSettled(
        identityFiles.map(async (file): Promise<LoginMethod> => {
          const known = files.get(file) ?? read(file, passphrase);
          files.set(file, known);
          return { ...(await known), username };
        }),
      );
      const methods = found.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []));
      const failures: readonly unknown[] = found.flatMap((one) =>
        one.status === 'rejected' ? [one.reason as unknown] : [],
      );
      const problems = failures.map((failure) => {
        if (failure instanceof KeyProblem) return failure;
        throw failure;
      });
      const leftOut = problems.map(({ message }) => message);
      if (methods.length === 0 && problems[0] !== undefined)
        throw new KeyProblem(leftOut.join('; '), problems[0].remedy, problems[0]);
      return { methods, leftOut };
    },
  };
}

/** Where ssh-keygen puts keys, in the order in which ssh(1) tries them. */
const USUAL_KEYS = ['id_rsa', 'id_ecdsa', 'id_ed25519'];

/** `before` and a private key of the operator that is there; nothing without one. */
function ownKey(before: string): string {
  const file = USUAL_KEYS.map((name) => `~/.ssh/${name}`).find((path) => existsSync(path.replace('~', homedir())));
  return file === undefined ? '' : `${before}${file}`;
}

/** Remedies of a login without any key file. */
const noAgent = (): KeyProblem =>
  new KeyProblem(
    'no SSH key to log in with: the inventory names none, and no agent runs ($SSH_AUTH_SOCK is not set)',
    `set ssh.identityFile${ownKey(' to ')}, or start an agent: eval "$(ssh-agent)" && ssh-add`,
  );

const silentAgent = (socket: string, error: unknown): KeyProblem =>
  new KeyProblem(
    `the SSH agent at ${socket} does not answer: ${systemText(error)}`,
    `start one: eval "$(ssh-agent)" && ssh-add; or set ssh.identityFile${ownKey(' to ')}`,
    error,
  );

/** @throws KeyProblem for an agent without keys */
function refuseEmpty(socket: string, keys: readonly ParsedKey[]): void {
  if (keys.length > 0) return;
  throw new KeyProblem(
    `the SSH agent at ${socket} holds no key`,
    `load one: ssh-add${ownKey(' ')}; or set ssh.identityFile`,
  );
}

const agentKeys = (socket: string): Promise<readonly ParsedKey[]> =>
  new Promise((resolve, reject) => {
    ssh2.createAgent(socket).getIdentities((error, keys) => {
      if (error !== undefined && error !== null) reject(error);
      else
        resolve(
          (keys ?? [])
            .map((key) => ssh2.utils.parseKey(key as Buffer))
            .filter((key): key is ParsedKey => !(key instanceof Error)),
        );
    });
  });

/** The agent with only one of its keys: each further key counts against the server's MaxAuthTries. */
function agentOfOne(socket: string, key: ParsedKey): BaseAgent {
  const agent = ssh2.createAgent(socket);
  class OneKey extends ssh2.BaseAgent<ParsedKey> {
    getIdentities(done: (error?: Error | null, keys?: ParsedKey[]) => void): void {
      done(null, [key]);
    }
    sign(wanted: ParsedKey, data: Buffer, options: unknown, done?: SignCallback): void {
      agent.sign(wanted, data, options as never, done);
    }
  }
  return new OneKey();
}

/** The public key in the .pub file, or in the file itself if it is one: known without a passphrase. */
function publicKeyOf(file: string): Buffer | undefined {
  for (const name of [`${file}.pub`, file]) {
    if (!existsSync(name)) continue;
    let text: string;
    try {
      text = readPlainFile(name).toString();
    } catch {
      continue;
    }
    const [type, blob] = text.split(/\s+/);
    if (type !== undefined && blob !== undefined && /^(?:ssh-|ecdsa-|sk-)/.test(type))
      return Buffer.from(blob, 'base64');
  }
  return undefined;
}

async function privateKey(
  file: string,
  passphrase: Secret | undefined,
  ask: (file: string) => Promise<Secret | undefined>,
): Promise<ParsedKey> {
  let text: Buffer;
  try {
    text = readPlainFile(file);
  } catch (error) {
    throw new KeyProblem(`cannot read the SSH key ${file}: ${systemText(error)}`, 'check ssh.identityFile', error);
  }
  if (/^sk-|^-----BEGIN PUBLIC|^(?:ssh|ecdsa)-/.test(text.toString('latin1', 0, 64)))
    throw new KeyProblem(
      `the agent does not hold the key of ${file}, and there is only its public half here`,
      'load the key into the agent (ssh-add), or name the private key in ssh.identityFile',
    );
  if (readableByOthers(file))
    throw new KeyProblem(`others can read the SSH key ${file}, so that it is not used`, `chmod 600 ${file}`);
  const open = ssh2.utils.parseKey(text);
  if (!(open instanceof Error)) return open;
  if (!/passphrase/i.test(open.message)) throw unusable(file, open);
  const secret = passphrase ?? (await ask(file));
  if (secret === undefined)
    throw new KeyProblem(
      `the SSH key ${file} is encrypted`,
      `set ssh.passphrase (env:NAME, file:PATH or command:COMMAND), or add it to an agent (ssh-add ${file})`,
      open,
    );
  const unlocked = ssh2.utils.parseKey(text, revealed(secret));
  if (!(unlocked instanceof Error)) return unlocked;
  if (!/passphrase|integrity|decrypt/i.test(unlocked.message)) throw unusable(file, unlocked);
  throw new KeyProblem(
    `the passphrase of the SSH key ${file} is wrong`,
    passphrase === undefined ? 'run the same command again, and type it again' : 'check ssh.passphrase',
    unlocked,
  );
}

/** ssh2 reads the PEM at every login, which takes ten times as long as the signature. */
function signingQuickly(key: ParsedKey): ParsedKey {
  if (key.type !== 'ssh-ed25519') return key;
  const read = createPrivateKey(key.getPrivatePEM());
  return Object.assign(key, { sign: (data: Buffer) => sign(null, data, read) });
}

/** As OpenSSH judges: only of files of one's own, and not where there is no such thing (Windows). */
function readableByOthers(file: string): boolean {
  const { mode, uid } = statSync(file);
  return (mode & 0o077) !== 0 && uid === ownId();
}

function ownId(): number | undefined {
  try {
    return userInfo().uid;
  } catch {
    // A user of a container may have no name.
    return undefined;
  }
}

const unusable = (file: string, error: Error): KeyProblem =>
  /\bsk-/.test(error.message)
    ? new KeyProblem(
        `the SSH key ${file} is of a security key (FIDO), which the built-in client cannot use`,
        'set ssh.client: openssh, or log in with a key of another kind',
        error,
      )
    : new KeyProblem(`${file} is no SSH private key: ${error.message}`, 'check ssh.identityFile', error);

// CommonJS: Node finds no named exports in it.

/**
 * The 32 bytes of an Ed25519 private key of OpenSSH, in hexadecimal. Throws an error that says why there are none.
 */
export function ed25519Seed(text: Secret, passphrase?: Secret): Secret {
  const parsed = ssh2.utils.parseKey(revealed(text), passphrase === undefined ? undefined : revealed(passphrase)) as
    ssh2.ParsedKey | Error | readonly ssh2.ParsedKey[];
  if (parsed instanceof Error) throw parsed;
  const [key] = [parsed].flat();
  if (key?.type !== 'ssh-ed25519') throw new Error(`is of the type ${key?.type ?? 'unknown'}; ssh-ed25519 is needed`);
  const { d } = createPrivateKey(key.getPrivatePEM()).export({ format: 'jwk' });
  return Secret.of(Buffer.from(d ?? '', 'base64url').toString('hex'));
}
