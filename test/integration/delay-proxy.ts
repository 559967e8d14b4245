import { createServer, connect, type AddressInfo, type Socket } from 'node:net';

/** A way to a server that takes its time. */
export interface DelayProxy {
  readonly port: number;
  /** How often the client has spoken after the server had: round trips. */
  readonly turns: () => number;
  readonly close: () => void;
}

/** Passes everything on to a port of this machine `eachWayMs` later, in order, as a long line does. */
export async function delayProxy(port: number, eachWayMs: number): Promise<DelayProxy> {
  let turns = 0;
  let last: 'client' | 'server' = 'server';
  const sockets = new Set<Socket>();
  const later = (from: Socket, to: Socket, who: 'client' | 'server'): void => {
    from.on('data', (chunk: Buffer) => {
      if (who === 'client' && last === 'server') turns += 1;
      last = who;
      setTimeout(() => to.writable && to.write(chunk), eachWayMs);
    });
    from.on('end', () => setTimeout(() => to.end(), eachWayMs));
    from.on('error', () => to.destroy());
    from.on('close', () => sockets.delete(from));
    sockets.add(from);
  };
  const server = createServer((client) => {
    const behind = connect(port, '127.0.0.1');
    later(client, behind, 'client');
    later(behind, client, 'server');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    port: (server.address() as AddressInfo).port,
    turns: () => turns,
    close: () => {
      for (const socket of sockets) socket.destroy();
      server.close();
    },
  };
}
