import { generateKeyPairSync } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { connect, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import ssh2 from 'ssh2';
import type { AuthContext, CipherAlgorithm, Connection, ServerChannel } from 'ssh2';
import type { LinuxHost } from '../../src/inventory/inventory.ts';
import { linuxHost } from './inventory.ts';

/** A command that a client runs on the fake server. */
export interface FakeCommand {
  readonly commandLine: string;
  /** Everything that the client sends until it ends its input. */
  readonly stdin: () => Promise<string>;
  readonly channel: ServerChannel;
  /** Drops the connection that it came on, without a word. */
  readonly drop: () => void;
}

/** An SSH server in this process: what it answers is the test's to say. */
export interface FakeSshServer {
  readonly port: number;
  /** How to reach it, its keys on file. */
  readonly host: LinuxHost;
  readonly knownHosts: string;
  /** Public keys as in known_hosts, by type. */
  readonly keys: Readonly<Record<string, string>>;
  /** Logins that were tried: a method each. */
  readonly logins: readonly string[];
  readonly connections: () => number;
  stop(): Promise<void>;
}

/** How the server behaves. */
export interface FakeSshOptions {
  /** Types of host keys; default one ed25519 key. */
  readonly hostKeys?: readonly ('ed25519' | 'ecdsa' | 'rsa')[];
  /** Ciphers it speaks; default those of ssh2. */
  readonly ciphers?: readonly CipherAlgorithm[];
  /** Sessions it allows at once. */
  readonly sessions?: number;
  /** Connections it drops before a handshake. */
  readonly dropFirst?: number;
  /** Connections it drops when the client has begun the key exchange. */
  readonly dropInHandshake?: number;
  /** What it waits before it accepts a login. */
  readonly loginAfterMs?: number;
  /** Leads a forwarded connection to a port of 127.0.0.1; false: does not reach it; `silence`: does not say. Default: it forwards none. */
  readonly forward?: (address: string, port: number) => number | false | 'silence';
  /** Refuses every key but that of `host`; default it lets every user in. */
  readonly ownKeyOnly?: boolean;
}

function newKey(type: 'ed25519' | 'ecdsa' | 'rsa'): string {
  if (type === 'rsa') {
    const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
    return privateKey.export({ type: 'pkcs1', format: 'pem' }).toString();
  }
  const { private: key } =
    type === 'ecdsa'
      ? ssh2.utils.generateKeyPairSync('ecdsa', { bits: 256 })
      : ssh2.utils.generateKeyPairSync('ed25519');
  // About one ed25519 key in 300 that ssh2 makes is one that ssh2 cannot read.
  return ssh2.utils.parseKey(key) instanceof Error ? newKey(type) : key;
}

function publicKey(privateKey: string): { readonly type: string; readonly blob: Buffer; readonly line: string } {
  const key = ssh2.utils.parseKey(privateKey);
  if (key instanceof Error) throw key;
  const blob = key.getPublicSSH();
  return { type: key.type, blob, line: `${key.type} ${blob.toString('base64')}` };
}

/** Starts it on a free port of 127.0.0.1. */
export async function fakeSshServer(
  answer: (command: FakeCommand) => void | Promise<void>,
  {
    hostKeys = ['ed25519'],
    ciphers,
    sessions = 100,
    dropFirst = 0,
    dropInHandshake = 0,
    loginAfterMs = 0,
    ownKeyOnly = false,
    forward,
  }: FakeSshOptions = {},
): Promise<FakeSshServer> {
  const folder = mkdtempSync(join(tmpdir(), 'kbuild-ssh-'));
  const privateKeys = hostKeys.map(newKey);
  const login = newKey('ed25519');
  const { blob } = publicKey(login);
  const mayLogIn = (tried: AuthContext): boolean =>
    !ownKeyOnly || (tried.method === 'publickey' && tried.key.data.equals(blob));
  const logins: string[] = [];
  const open = new Set<Connection>();
  let connections = 0;
  let drops = dropFirst;
  let laterDrops = dropInHandshake;

  const server = new ssh2.Server(
    { hostKeys: privateKeys, ...(ciphers === undefined ? {} : { algorithms: { cipher: [...ciphers] } }) },
    (connection) => {
      connections++;
      open.add(connection);
      let running = 0;
      connection.on('error', () => undefined);
      connection.on('close', () => open.delete(connection));
      connection.on('authentication', (tried) => {
        logins.push(tried.method);
        if (!mayLogIn(tried)) tried.reject(['publickey']);
        else if (loginAfterMs === 0) tried.accept();
        else setTimeout(() => tried.accept(), loginAfterMs);
      });
      if (forward !== undefined)
        connection.on('tcpip', (accept, reject, { destIP, destPort }) => {
          const to = forward(destIP, destPort);
          if (to === false) reject();
          else if (to !== 'silence') {
            const channel = accept();
            channel.on('error', () => undefined);
            const socket = connect(to, '127.0.0.1').on('error', () => undefined);
            socket.pipe(channel).pipe(socket);
          }
        });
      connection.on('session', (accept, reject) => {
        if (running >= sessions) {
          reject();
          return;
        }
        running++;
        accept().on('exec', (acceptExec, _reject, { command }) => {
          const channel = acceptExec();
          channel.on('error', () => undefined);
          channel.on('close', () => running--);
          void answer({
            commandLine: command,
            channel,
            stdin: () =>
              new Promise((resolve) => {
                const chunks: Buffer[] = [];
                channel.on('data', (chunk: Buffer) => chunks.push(chunk));
                channel.on('end', () => {
                  resolve(Buffer.concat(chunks).toString());
                });
              }),
            drop: () => {
              (connection as unknown as { _sock: { destroy(): void } })._sock.destroy();
            },
          });
        });
      });
    },
  );
  const listener = (server as unknown as { _srv: Server })._srv;
  listener.prependListener('connection', (socket) => {
    if (drops-- > 0) socket.destroy();
    // The client's identification comes first, then its proposal for the key exchange.
    else if (laterDrops-- > 0)
      socket.on('data', (chunk: Buffer) => {
        if (chunk.length > 100) socket.destroy();
      });
  });
  server.listen(0, '127.0.0.1');
  await once(listener, 'listening');
  const { port } = listener.address() as { port: number };

  writeFileSync(join(folder, 'login'), login, { mode: 0o600 });
  const keys = Object.fromEntries(privateKeys.map((key) => publicKey(key)).map(({ type, line }) => [type, line]));
  const knownHosts = join(folder, 'known_hosts');
  writeFileSync(
    knownHosts,
    Object.values(keys)
      .map((line) => `[127.0.0.1]:${String(port)} ${line}\n`)
      .join(''),
  );
  return {
    port,
    keys,
    knownHosts,
    logins,
    connections: () => connections,
    host: linuxHost('fake', {
      address: '127.0.0.1',
      ssh: { user: 'root', port, identityFiles: [join(folder, 'login')], knownHostsFiles: [knownHosts] },
    }),
    async stop() {
      for (const connection of open) connection.end();
      server.close();
      rmSync(folder, { recursive: true, force: true });
      await Promise.resolve();
    },
  };
}
