import type { Duplex } from 'node:stream';
import type { Tunnels } from './bastions.ts';

/** What tunnels need of an SSH client that has logged in to a bastion. */
interface Forwarder {
  forwardOut(
    fromAddress: string,
    fromPort: number,
    address: string,
    port: number,
    done: (error: Error | undefined, stream: Duplex) => void,
  ): unknown;
  on(event: 'error', listener: (error: Error) => void): unknown;
  once(event: 'close', listener: () => void): unknown;
  end(): unknown;
  destroy(): unknown;
}

/** A connection to a bastion, for others to go through. */
export function tunnelsOf(client: Forwarder): Tunnels {
  let isLost = false;
  client.once('close', () => (isLost = true));
  client.on('error', () => {
    client.destroy();
  });
  return {
    isLost: () => isLost,
    end: () => void client.end(),
    forward: (address: string, port: number) =>
      new Promise<Duplex>((resolve, reject) => {
        try {
          client.forwardOut('127.0.0.1', 0, address, port, (error, stream) => {
            if (error === undefined) resolve(stream);
            else reject(error);
          });
        } catch {
          isLost = true;
          client.destroy();
          reject(new Error('the connection to it was lost'));
        }
      }),
  };
}
