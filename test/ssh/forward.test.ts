import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { afterEach, expect, test } from 'vitest';
import type { Transport } from '../../src/ssh/transport.ts';
import { dialSsh } from '../fakes/dial-ssh.ts';
import { type FakeSshOptions, fakeSshServer } from '../fakes/ssh-server.ts';

const ending: (() => unknown)[] = [];
afterEach(async () => {
  for (const end of ending.splice(0).reverse()) await end();
});

async function connected(forward?: FakeSshOptions['forward']): Promise<Transport> {
  const server = await fakeSshServer(() => undefined, forward === undefined ? {} : { forward });
  ending.push(() => server.stop());
  const transport = await dialSsh(server.host, { policy: 'strict', pause: () => Promise.resolve() });
  ending.push(() => transport.close());
  return transport;
}

test('a forwarded connection carries bytes both ways, to the address that was wanted', async () => {
  const echo = createServer((socket) => socket.pipe(socket)).listen(0, '127.0.0.1');
  await once(echo, 'listening');
  ending.push(() => echo.close());
  const wanted: string[] = [];
  const { port } = echo.address() as AddressInfo;
  const transport = await connected((address, to) => (wanted.push(`${address}:${String(to)}`), port));
  const forwarded = await transport.forward('10.0.0.11', 6443);
  if (forwarded.kind !== 'open') throw new Error(forwarded.reason);
  forwarded.stream.write('hello');
  expect(String(((await once(forwarded.stream, 'data')) as readonly Buffer[])[0])).toBe('hello');
  expect(wanted).toEqual(['10.0.0.11:6443']);
  forwarded.stream.destroy();
});

test('a server that forwards nothing is asked once a connection', async () => {
  const transport = await connected();
  const first = await transport.forward('10.0.0.11', 6443);
  expect(first).toMatchObject({
    kind: 'denied',
    reason: expect.stringMatching(/^administratively prohibited/) as string,
  });
  expect(await transport.forward('10.0.0.12', 2379)).toBe(first);
});

test('an address that the host does not reach is asked for again: another moment, another answer', async () => {
  let asked = 0;
  const transport = await connected(() => ((asked += 1), false));
  expect((await transport.forward('10.0.0.11', 6443)).kind).toBe('failed');
  expect((await transport.forward('10.0.0.11', 6443)).kind).toBe('failed');
  expect(asked).toBe(2);
});

test('a connection that is lost meanwhile has reached nothing', async () => {
  let heard = (): void => undefined;
  const asked = new Promise<void>((resolve) => (heard = resolve));
  const transport = await connected(() => (heard(), 'silence'));
  const forwarding = transport.forward('10.0.0.11', 6443);
  await asked;
  await transport.close();
  expect((await forwarding).kind).toBe('failed');
});
