import type { Duplex, Readable, Writable } from 'node:stream';
import { ConnectError } from '../errors.ts';
import type { Login } from '../inventory/host-settings.ts';

/** One running command on a connection. Emits `close` when it is over and its output was read. */
export interface CommandStream extends Duplex {
  readonly stderr: Readable;
}

/** What became of an attempt to start a command. */
export type Started =
  | {
      readonly kind: 'started';
      readonly stream: CommandStream;
      /** Exit status or a signal's name; `lost` while none came. */
      readonly status: () => number | string;
    }
  /** The server opens no more channels for now; nothing was run. */
  | { readonly kind: 'refused'; readonly reason: string }
  /** The server will not run the command. */
  | { readonly kind: 'denied'; readonly reason: string }
  /** The connection had ended before the command was sent; nothing was run. */
  | { readonly kind: 'unsent' }
  /** The connection ended after the command was sent: it may have run. */
  | { readonly kind: 'lost' };

/** What became of an attempt to reach an address from the host, over SSH's own channel (RFC 4254, 7.2). */
export type Forwarded =
  /** A TCP connection from the host to the address. The caller destroys it. */
  | { readonly kind: 'open'; readonly stream: Duplex }
  /** The server forwards no connections, or none to this address: asking again on this connection is of no use. */
  | { readonly kind: 'denied'; readonly reason: string }
  /** The host did not reach the address. */
  | { readonly kind: 'failed'; readonly reason: string };

/** True if sshd itself may not connect, by the system's policy: a command on the host may reach the address still. */
export const isForbidden = (reason: string): boolean => /permission denied|not permitted/i.test(reason);

/** Files over a connection. Errors are `TransferError`s. */
export interface FileLink {
  put(from: string | Buffer, to: string): Promise<void>;
  fetch(from: string): Promise<Buffer>;
  fetchTo(from: string, localPath: string): Promise<void>;
  end(): void;
}

/** One established connection. */
export interface Link {
  /**
   * Starts a command. `begin` gets its stream as soon as something can be written to it: before the server has said
   * that the command runs, where that is possible, so that this costs no round trip.
   */
  start(commandLine: string, begin?: (stream: Writable) => void): Promise<Started>;
  /** Connects from the host to an address. Takes as long as the host tries; a lost connection is `failed`. */
  forward(address: string, port: number): Promise<Forwarded>;
  /** Begins to transfer files. @throws Error with the server's answer. */
  files(): Promise<FileLink>;
  /** What the server calls itself. */
  readonly software: string;
  /** How long the login took, from the moment the server took the connection; missing if that is unknown. */
  readonly loginMs?: number;
  /** Settles when the connection has ended. */
  readonly lost: Promise<void>;
  isLost(): boolean;
  /** Ends it at once. */
  destroy(): void;
}

/** The connections to one host, one after another. */
interface Links {
  /** The current connection; another one when that was lost. @throws ConnectError */
  readonly connected: () => Promise<Link>;
  /** How many were made. */
  readonly count: () => number;
  /** The connection that was made last. */
  readonly last: () => Link;
  /** What starts from now on gets a new connection; what runs keeps its own. */
  readonly renew: () => void;
  readonly close: () => Promise<void>;
}

/** Connections that `dial` makes: the first at once, another whenever the one before was lost. @throws ConnectError */
export async function linksOf(name: string, dial: () => Promise<Link>): Promise<Links> {
  let count = 0;
  let closed = false;
  let last: Link;
  const dialed = async (): Promise<Link> => {
    last = await dial();
    count++;
    return last;
  };
  let current = dialed();
  await current;
  /** Connections that were renewed while something ran on them. */
  const older = new Set<Link>();
  const become = (next: Promise<Link>): Promise<Link> => {
    // What fails here fails again for each caller that waits for it.
    next.catch(() => undefined);
    return (current = next);
  };
  const refuseClosed = (): void => {
    if (closed) throw new ConnectError(name, 'the connection was closed', { retryable: false });
  };

  const connected = async (): Promise<Link> => {
    const awaited = current;
    const link = await awaited.catch(() => undefined);
    refuseClosed();
    if (link !== undefined && !link.isLost()) return link;
    // The first caller that notices dials; the others find its attempt here.
    return current === awaited ? become(dialed()) : connected();
  };
  const renewed = async (awaited: Promise<Link>): Promise<Link> => {
    const link = await awaited.catch(() => undefined);
    refuseClosed();
    if (link !== undefined && !link.isLost()) older.add(link);
    return dialed();
  };
  return {
    connected,
    count: () => count,
    last: () => last,
    renew: () => void become(renewed(current)),
    async close() {
      if (closed) return;
      closed = true;
      // Nothing runs on them any more: a goodbye would cost a round trip for each run.
      for (const link of older) link.destroy();
      const link = await current.catch(() => undefined);
      if (link !== undefined && !link.isLost()) link.destroy();
    },
  };
}

/** One machine to connect to: a host, or a bastion on the way to it. */
export interface Endpoint {
  /** The host's name, for messages: also for a bastion, since that host is what cannot be reached. */
  readonly name: string;
  readonly address: string;
  readonly ssh: Login;
}

/** `address:port`, IPv6 in brackets. */
export const whereOf = ({ address, ssh: { port } }: Pick<Endpoint, 'address' | 'ssh'>): string =>
  `${address.includes(':') ? `[${address}]` : address}:${String(port)}`;
