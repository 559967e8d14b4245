/**
 * Carries bytes to the fleet's sshd with a delay each way. Arguments: own port, port of sshd, milliseconds one way, and
 * sshd's address (default: the one that was connected to). */
import { connect, createServer, type Socket } from 'node:net';

const [own, port, delay] = process.argv.slice(2).map(Number) as [number, number, number];
const host = process.argv[5];

/** Every chunk on its way is in a timer: the delay costs no bandwidth. */
const carry = (from: Socket, to: Socket): void => {
  let inFlight = 0;
  from.on('data', (chunk: Buffer) => {
    inFlight += chunk.length;
    if (inFlight > 64 * 1024 * 1024) from.pause();
    setTimeout(() => {
      inFlight -= chunk.length;
      if (!to.destroyed && !to.write(chunk)) from.pause();
      else if (inFlight < 32 * 1024 * 1024) from.resume();
    }, delay);
  });
  to.on('drain', () => from.resume());
  from.on('end', () => setTimeout(() => to.end(), delay));
  from.on('error', () => to.destroy());
};

createServer({ noDelay: true, allowHalfOpen: true }, (near) => {
  const far = connect({ host: host ?? near.localAddress, port, noDelay: true, allowHalfOpen: true });
  carry(near, far);
  carry(far, near);
}).listen(own, '0.0.0.0', () => process.stdout.write('ready\n'));
