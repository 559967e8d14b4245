/** A load balancer such as users bring their own: TCP, on the lab's machine, with a backend only while its /readyz says so. */
import { request } from 'node:https';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { GATEWAY } from './network-plan.ts';

const LOOK_MS = 500;

/** A running balancer. */
export interface Balancer {
  /** `host:port` for `kubernetes.endpoint`. */
  readonly endpoint: string;
  readonly setBackends: (addresses: readonly string[]) => void;
  readonly close: () => void;
}

const isReady = (address: string): Promise<boolean> =>
  new Promise((resolve) => {
    const asked = request(
      { host: address, port: 6443, path: '/readyz', rejectUnauthorized: false, timeout: 1000, agent: false },
      (answer) => {
        answer.resume();
        resolve(answer.statusCode === 200);
      },
    );
    asked.on('timeout', () => asked.destroy());
    asked.on('error', () => resolve(false));
    asked.end();
  });

/** Starts a balancer before the API servers at these addresses. With no ready backend it refuses connections at once. */
export async function balance(port: number, addresses: readonly string[]): Promise<Balancer> {
  let backends = addresses;
  let next = 0;
  const ready = new Set<string>();
  const open = new Map<Socket, string>();
  const look = async (): Promise<void> => {
    await Promise.all(
      backends.map(async (address) => {
        if (await isReady(address)) ready.add(address);
        else ready.delete(address);
      }),
    );
    for (const [socket, address] of open) if (!ready.has(address) || !backends.includes(address)) socket.destroy();
  };
  const server: Server = createServer((client) => {
    const able = backends.filter((address) => ready.has(address));
    const address = able[next++ % Math.max(1, able.length)];
    if (address === undefined) {
      client.destroy();
      return;
    }
    const behind = connect(6443, address);
    open.set(client, address);
    for (const [one, other] of [
      [client, behind],
      [behind, client],
    ] as const) {
      one.on('error', () => other.destroy());
      one.on('close', () => other.destroy());
    }
    client.on('close', () => open.delete(client));
    client.pipe(behind).pipe(client);
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, GATEWAY, resolve);
  });
  await look();
  const timer = setInterval(() => void look(), LOOK_MS);
  return {
    endpoint: `${GATEWAY}:${String(port)}`,
    setBackends: (changed) => {
      backends = changed;
    },
    close: () => {
      clearInterval(timer);
      for (const socket of open.keys()) socket.destroy();
      server.close();
    },
  };
}
