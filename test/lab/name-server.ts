/**
 * A name server at the address that the lab's hosts ask, where nothing listens otherwise: it knows the names that a test gives it.
 */
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { withLock } from './flock.ts';
import { GATEWAY } from './network-plan.ts';

const ADDRESS = 1;
const NO_SUCH_NAME = 3;

/** The name and the type that a query asks for, and where the question ends. @throws RangeError for one that is cut short */
function questionIn(query: Buffer): { readonly name: string; readonly type: number; readonly end: number } {
  const labels: string[] = [];
  let at = 12;
  while (query.readUInt8(at) !== 0) {
    const length = query.readUInt8(at);
    labels.push(query.toString('latin1', at + 1, at + 1 + length));
    at += 1 + length;
  }
  return { name: labels.join('.').toLowerCase(), type: query.readUInt16BE(at + 1), end: at + 5 };
}

/**
 * The answer to a query (RFC 1035, 4.1): the IPv4 address of a known name; nothing of another type; no such name.
 * @throws RangeError for a query that is cut short
 */
export function answerTo(query: Buffer, names: Readonly<Record<string, string>>): Buffer {
  const { name, type, end } = questionIn(query);
  const address = names[name];
  const answers = address !== undefined && type === ADDRESS;
  const header = Buffer.alloc(12);
  query.copy(header, 0, 0, 2);
  // An answer of an authority, to a query that may ask for recursion.
  header.writeUInt16BE(0x8400 | (query.readUInt16BE(2) & 0x0100) | (address === undefined ? NO_SUCH_NAME : 0), 2);
  header.writeUInt16BE(1, 4);
  header.writeUInt16BE(answers ? 1 : 0, 6);
  const record = Buffer.from([0xc0, 12, 0, ADDRESS, 0, 1, 0, 0, 0, 5, 0, 4, ...(address ?? '').split('.').map(Number)]);
  return Buffer.concat([header, query.subarray(12, end), ...(answers ? [record] : [])]);
}

/** Runs `action` while hosts and pods of the lab can resolve these names. Waits while another process does so. */
export const withNames = <T>(names: Readonly<Record<string, string>>, action: () => Promise<T>): Promise<T> =>
  withLock('name-server', async () => {
    const server = createSocket('udp4', (query, { port, address }) => {
      try {
        server.send(answerTo(query, names), port, address);
      } catch (error) {
        // The client asks again, or not.
        if (!(error instanceof RangeError)) throw error;
      }
    });
    server.bind(53, GATEWAY);
    await once(server, 'listening');
    try {
      return await action();
    } finally {
      server.close();
    }
  });
