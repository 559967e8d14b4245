import { once } from 'node:events';
import { createServer, request, type Server } from 'node:https';
import { type AddressInfo, connect } from 'node:net';
import type { Duplex } from 'node:stream';
import { connect as connectTls, type TLSSocket } from 'node:tls';
import { afterEach, describe, expect, test } from 'vitest';
import type { Forward } from '../../src/cluster/fleet/https-peer.ts';
import { type ApiListener, listenForApi } from '../../src/commands/api-listener.ts';
import { revealed, Secret } from '../../src/shell/secret.ts';
import { pem } from '../fakes/https-server.ts';

const running: (() => void)[] = [];
afterEach(() => running.splice(0).forEach((stop) => stop()));

/** An API server that wants the client's certificate, and what it was asked. */
async function apiServer() {
  const asked: string[] = [];
  const server: Server = createServer(
    { cert: pem.server, key: pem.serverKey, ca: pem.ca, requestCert: true, rejectUnauthorized: true },
    (from, to) => {
      const { CN } = (from.socket as TLSSocket).getPeerCertificate().subject;
      asked.push(
        `${from.method ?? ''} ${from.url ?? ''} as ${String(CN)} with ${from.headers.authorization ?? 'no token'}`,
      );
      if (from.url === '/watch') to.write('first\n');
      else from.pipe(to.writeHead(from.url === '/none' ? 404 : 200));
    },
  );
  server.on('upgrade', (from: { readonly url?: string }, socket: Duplex) => {
    if (from.url === '/refused') {
      socket.end('HTTP/1.1 403 Forbidden\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nno\r\n0\r\n\r\n');
      return;
    }
    socket.write('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: SPDY/3.1\r\n\r\nhello ');
    socket.pipe(socket);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  running.push(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  let channels = 0;
  const forward: Forward = async () => {
    channels += 1;
    const stream = connect(port, '127.0.0.1');
    await once(stream, 'connect');
    return { kind: 'open', stream };
  };
  return { asked, forward, channels: () => channels };
}

async function listening(forwards: Forward | readonly Forward[], ca = pem.ca): Promise<ApiListener> {
  const identity = { ca, certificate: pem.client, key: Secret.of(pem.clientKey) };
  const server = { host: '127.0.0.1', port: 6443 };
  const [first, ...others] = [forwards].flat().map((forward) => ({ forward, server }));
  const listener = await listenForApi({ servers: [first!, ...others], identity }, Date.now());
  running.push(listener.close);
  return listener;
}

interface Asked {
  readonly method?: string;
  readonly body?: string;
  readonly token?: string;
}

const bearer = (token: string) => (token === '' ? {} : { authorization: `Bearer ${token}` });

async function ask({ server, ca, ...listener }: ApiListener, path: string, asked: Asked = {}) {
  const { method = 'GET', body = '', token = revealed(listener.token) } = asked;
  const asking = request(`${server}${path}`, { ca, method, headers: bearer(token) });
  asking.end(body);
  const [answer] = (await once(asking, 'response')) as [AsyncIterable<Buffer> & { statusCode: number }];
  let text = '';
  for await (const chunk of answer) text += String(chunk);
  return { status: answer.statusCode, text };
}

/** What comes back on a connection that wants to be another protocol, after `ping` was sent behind the answer. */
async function upgraded({ server, ca, ...listener }: ApiListener, path: string, token = revealed(listener.token)) {
  const socket = connectTls({ port: Number(new URL(server).port), host: '127.0.0.1', ca });
  running.push(() => socket.destroy());
  const authorization = token === '' ? '' : `Authorization: Bearer ${token}\r\n`;
  socket.write(`POST ${path} HTTP/1.1\r\nHost: x\r\n${authorization}Connection: Upgrade\r\nUpgrade: SPDY/3.1\r\n\r\n`);
  let text = '';
  let isSent = false;
  for await (const chunk of socket) {
    text += String(chunk);
    if (text.includes('hello') && !isSent) socket.write('ping');
    isSent ||= text.includes('hello');
    if (text.includes('ping')) break;
  }
  return text;
}

describe('the API on an address of this machine', () => {
  test('passes requests and bodies on as the administrator, over one channel, and keeps its token to itself', async () => {
    const { asked, forward, channels } = await apiServer();
    const listener = await listening(forward);
    expect(await ask(listener, '/api?limit=5', { method: 'POST', body: 'a body' })).toEqual({
      status: 200,
      text: 'a body',
    });
    expect((await ask(listener, '/none')).status).toBe(404);
    expect(asked[0]).toMatch(/^POST \/api\?limit=5 as \w.* with no token$/);
    expect(channels()).toBe(1);
  });

  test.each(['', 'A'.repeat(43)])('refuses the token "%s", and asks no API server', async (token) => {
    const { forward, channels } = await apiServer();
    const listener = await listening(forward);
    expect(await ask(listener, '/api', { token })).toMatchObject({
      status: 401,
      text: expect.stringContaining('token') as string,
    });
    expect(await upgraded(listener, '/api', token)).toMatch(/^HTTP\/1\.1 401 /);
    expect(channels()).toBe(0);
  });

  test('takes another control plane where the first cannot be reached any more, and stays with it', async () => {
    const one = await apiServer();
    const other = await apiServer();
    const tried: string[] = [];
    let isLost = false;
    const listener = await listening([
      (...where) => {
        tried.push('one');
        return isLost ? Promise.resolve({ kind: 'failed', reason: 'refused' }) : one.forward(...where);
      },
      (...where) => {
        tried.push('other');
        return other.forward(...where);
      },
    ]);
    expect(await upgraded(listener, '/exec')).toContain('hello ping');
    isLost = true;
    expect(await upgraded(listener, '/exec')).toContain('hello ping');
    expect(await upgraded(listener, '/exec')).toContain('hello ping');
    expect(tried).toEqual(['one', 'one', 'other', 'other']);
  });

  test('has a token and a key of its own each time', async () => {
    const { forward } = await apiServer();
    const [one, other] = [await listening(forward), await listening(forward)];
    expect(revealed(one.token)).not.toBe(revealed(other.token));
    expect((await ask(one, '/api', { token: revealed(other.token) })).status).toBe(401);
    await expect(ask({ ...one, ca: other.ca }, '/api')).rejects.toThrow(/certificate/);
  });

  test('hands over each part of a watch when it comes', async () => {
    const { forward } = await apiServer();
    const { server, ca, token } = await listening(forward);
    const asking = request(`${server}/watch`, { ca, headers: bearer(revealed(token)) });
    asking.on('error', () => undefined).end();
    running.push(() => asking.destroy());
    const [answer] = (await once(asking, 'response')) as [NodeJS.ReadableStream];
    expect(String((await once(answer, 'data'))[0])).toBe('first\n');
  });

  test('passes bytes both ways once the API server speaks another protocol', async () => {
    const { forward } = await apiServer();
    expect(await upgraded(await listening(forward), '/exec')).toMatch(
      /^HTTP\/1\.1 101 .*Upgrade: SPDY\/3\.1\r\n\r\nhello ping$/s,
    );
  });

  test('passes on that the API server refuses another protocol, with its reason', async () => {
    const { forward } = await apiServer();
    expect(await upgraded(await listening(forward), '/refused')).toMatch(
      /^HTTP\/1\.1 403 Forbidden\r\n(?!.*chunked).*\r\n\r\nno$/is,
    );
  });

  test.each([
    ['the host does not reach the API', undefined, /port is closed/],
    ['the certificate is of another CA', pem.otherCa, /certificate/],
  ])('answers 502 with the reason if %s', async (_, ca, reason) => {
    const { forward } = await apiServer();
    const failing: Forward = () => Promise.resolve({ kind: 'failed', reason: 'port is closed' });
    const { status, text } = await ask(await listening(ca === undefined ? failing : forward, ca), '/api');
    expect(status).toBe(502);
    expect((JSON.parse(text) as { message: string }).message).toMatch(reason);
  });

  test('ends what is open when it is closed, and answers nobody afterwards', async () => {
    const { forward } = await apiServer();
    const listener = await listening(forward);
    const { server, ca, token } = listener;
    const asking = request(`${server}/watch`, { ca, headers: bearer(revealed(token)) });
    const ended = once(asking, 'close');
    asking.on('error', () => undefined).end();
    await once(asking, 'response');
    listener.close();
    await ended;
    await expect(ask(listener, '/api')).rejects.toThrow('ECONNREFUSED');
  });
});
