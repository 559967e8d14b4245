import type { Host } from '../../src/inventory/inventory.ts';
import { sshDialler, type SshOptions } from '../../src/ssh/ssh2.ts';
import type { Transport } from '../../src/ssh/transport.ts';

/** Dials one host by itself. @throws ConnectError */
export async function dialSsh(host: Host, options: SshOptions): Promise<Transport> {
  const dialler = sshDialler(options);
  try {
    const transport = await dialler.dial(host);
    return {
      ...transport,
      get connections() {
        return transport.connections;
      },
      get commands() {
        return transport.commands;
      },
      close: () => transport.close().finally(() => dialler.close()),
    };
  } catch (error) {
    dialler.close();
    throw error;
  }
}
