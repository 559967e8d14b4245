import { readdirSync, readFileSync } from 'node:fs';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises';

/** A line to a server of this process on which everything takes the same time, and nothing beside it takes any. */
export interface LineClock {
  readonly port: number;
  /** The process whose rest is awaited: nothing is carried before it is known. */
  readonly follow: (clientPid: number) => void;
  /** How often something went one way and came back, so far. Half a trip more where the last bytes went one way. */
  readonly trips: () => number;
  readonly close: () => void;
}

/** Turns of this process's event loop after which its servers have answered all that they were sent. */
const TURNS = 40;

/** True if no thread of the process runs or wants to: it waits for what comes over a line, or for a clock. */
function isAsleep(pid: number): boolean {
  try {
    const tasks = `/proc/${String(pid)}/task`;
    return readdirSync(tasks).every((task) => /\) S /.test(readFileSync(`${tasks}/${task}/stat`, 'utf8')));
  } catch {
    // A thread or the process has ended meanwhile: asked again.
    return false;
  }
}

/**
 * Carries bytes between a client, another process, and servers of this process, which answer at once. What both have
 * sent is carried over when neither has anything left to do, all of it at the same moment. The time that things take is
 * no part of the count; a busy machine counts up to three fewer, because more is on the way when both have come to rest.
 */
export async function lineClock(port: number): Promise<LineClock> {
  const sockets = new Set<Socket>();
  let onTheWay: (() => void)[] = [];
  let heard = 0;
  let moments = 0;
  let isClosed = false;
  let pid: number | undefined;

  const carry = (from: Socket, to: Socket): void => {
    from.on('data', (chunk: Buffer) => {
      heard += 1;
      onTheWay.push(() => to.writable && to.write(chunk));
    });
    from.on('end', () => to.end());
    from.on('error', () => to.destroy());
    from.on('close', () => sockets.delete(from));
    sockets.add(from);
  };
  /** True if nobody said anything while all threads of the client slept and this process went on. */
  const isQuiet = async (): Promise<boolean> => {
    const before = heard;
    for (let check = 0; check < 3; check++) {
      if (pid === undefined || !isAsleep(pid)) return false;
      for (let turn = 0; turn < TURNS; turn++) await nextTurn();
      await sleep(1);
    }
    return heard === before;
  };
  const run = async (): Promise<void> => {
    while (!isClosed) {
      if (onTheWay.length === 0 || !(await isQuiet())) {
        await sleep(1);
        continue;
      }
      moments += 1;
      const arriving = onTheWay;
      onTheWay = [];
      for (const arrive of arriving) arrive();
    }
  };
  const server = createServer({ noDelay: true }, (client) => {
    const behind = connect({ port, host: '127.0.0.1', noDelay: true });
    carry(client, behind);
    carry(behind, client);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  void run();
  return {
    port: (server.address() as AddressInfo).port,
    follow: (clientPid) => void (pid = clientPid),
    trips: () => moments / 2,
    close: () => {
      isClosed = true;
      for (const socket of sockets) socket.destroy();
      server.close();
    },
  };
}
