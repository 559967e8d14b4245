import { connect } from 'node:net';

/** Whether an SSH server greets us at port 22 of that address within `timeoutMs`. Never throws. */
export function sshBanner(address: string, timeoutMs: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ host: address, port: 22 });
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
