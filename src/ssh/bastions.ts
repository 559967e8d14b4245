import type { Duplex } from 'node:stream';
import { ConnectError } from '../errors.ts';
import type { Bastion } from '../inventory/host-settings.ts';
import { limiter, type Limiter } from '../limit.ts';
import { type Endpoint, whereOf } from './link.ts';

/** A connection that others can go through. */
export interface Tunnels {
  /** A stream from the bastion to another machine. Rejects with the bastion's answer. */
  forward(address: string, port: number): Promise<Duplex>;
  isLost(): boolean;
  end(): void;
}

/** A stream through bastions. Call `settled` when the handshake on it has ended, also after a failure. */
export interface Path {
  readonly stream: Duplex;
  readonly settled: () => void;
  /** Another stream to the same machine. @throws ConnectError */
  readonly again: () => Promise<Path>;
}

/** Connections to bastions: one to each, shared by all hosts behind it. */
export interface Bastions {
  /** A way to a machine through all of `hops`, each verified. `name`: the host that it is for. @throws ConnectError */
  path(name: string, hops: readonly Bastion[], address: string, port: number): Promise<Path>;
  close(): void;
}

/** sshd's default MaxStartups is 10: a fleet that dials through one bastion must leave room for others. */
const HANDSHAKES = 8;

/** Hosts share a connection only if each of them would have accepted its host key. */
const identityOf = (hop: Bastion): readonly unknown[] => [
  hop.user,
  whereOf({ address: hop.address, ssh: hop }),
  hop.hostKeys ?? [hop.knownHostsFiles, hop.hostKeyAlias],
];

interface Opened {
  readonly tunnels: Promise<Tunnels>;
  readonly handshakes: Limiter;
}

/** Why a bastion does not forward to a machine. */
function noWay(name: string, hops: readonly Bastion[], to: string, error: Error): ConnectError {
  const at = hops.map((hop) => whereOf({ address: hop.address, ssh: hop })).at(-1)!;
  const isProhibited = /prohibited/i.test(error.message);
  return new ConnectError(name, `the bastion ${at} does not reach ${to}: ${error.message}`, {
    retryable: !isProhibited,
    ...(isProhibited ? { remedy: `sshd of ${at} must allow it (AllowTcpForwarding, PermitOpen)` } : {}),
    cause: error,
  });
}

/** `connect` dials one bastion, over a stream when it stands behind another. */
export function bastions(connect: (endpoint: Endpoint, through: Path | undefined) => Promise<Tunnels>): Bastions {
  const opened = new Map<string, Opened>();
  const dial = async (name: string, hops: readonly Bastion[]): Promise<Tunnels> => {
    const last = hops.at(-1)!;
    const before = hops.slice(0, -1);
    const through = before.length === 0 ? undefined : await path(name, before, last.address, last.port);
    try {
      return await connect({ name, address: last.address, ssh: last }, through);
    } finally {
      through?.settled();
    }
  };
  const open = async (name: string, hops: readonly Bastion[]): Promise<Opened> => {
    const key = JSON.stringify(hops.map(identityOf));
    const known = opened.get(key);
    if (known !== undefined) {
      const lost = await known.tunnels.then(
        (tunnels) => tunnels.isLost(),
        () => true,
      );
      if (!lost) return known;
      // The first caller that notices dials again; the others find its attempt.
      if (opened.get(key) !== known) return open(name, hops);
    }
    const fresh = { tunnels: dial(name, hops), handshakes: known?.handshakes ?? limiter(HANDSHAKES) };
    fresh.tunnels.catch(() => undefined);
    opened.set(key, fresh);
    return fresh;
  };

  const path: Bastions['path'] = async (name, hops, address, port) => {
    const { tunnels, handshakes } = await open(name, hops);
    const settled = await handshakes.take();
    try {
      const stream = await (await tunnels).forward(address, port);
      return { stream, settled, again: () => path(name, hops, address, port) };
    } catch (error) {
      settled();
      throw error instanceof ConnectError
        ? error
        : noWay(name, hops, `${address} port ${String(port)}`, error as Error);
    }
  };

  return {
    path,
    close: () => {
      for (const { tunnels } of opened.values())
        void tunnels.then(
          (made) => made.end(),
          () => undefined,
        );
      opened.clear();
    },
  };
}
