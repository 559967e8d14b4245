import { connect } from 'node:net';

/** Whether an SSH server greets us at that port of that address within `timeoutMs`. Never throws. */
export function sshBanner(address: string, timeoutMs: number, port = 22): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ host: address, port });
    const end = (answer: boolean): void => {
      socket.destroy();
      resolve(answer);
    };
    socket.setTimeout(timeoutMs, () => end(false));
    socket.on('error', () => end(false));
    socket.on('close', () => end(false));
    socket.once('data', (data) => end(data.toString('latin1').startsWith('SSH-')));
  });
}
