import { createServer, request } from 'node:http';
import { connect, type AddressInfo } from 'node:net';
import { GATEWAY } from './network-plan.ts';

/** An outbound proxy for tests. */
export interface Proxy {
  /** With characters that mean something to systemd, apt or a shell: none arrives by luck. */
  readonly url: string;
  /** What it was asked for: URLs, and `host:port` of tunnels. */
  readonly asked: readonly string[];
  stop(): Promise<void>;
}

/** Starts a forward proxy at the lab's gateway. It passes on only to the lab's own servers there. */
export async function httpProxy(): Promise<Proxy> {
  const asked: string[] = [];
  const server = createServer((from, to) => {
    const url = new URL(from.url ?? '/', `http://${GATEWAY}`);
    asked.push(url.href);
    if (url.hostname !== GATEWAY) {
      to.writeHead(403).end('only the lab');
      return;
    }
    const passed = request(url, { method: from.method, headers: from.headers }, (answer) => {
      to.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(to);
    });
    passed.on('error', () => to.destroy());
    from.pipe(passed);
  });
  server.on('connect', (from, socket) => {
    asked.push(from.url ?? '');
    const [host, port] = (from.url ?? '').split(':');
    if (host !== GATEWAY) {
      socket.end('HTTP/1.1 403 Forbidden\r\n\r\n');
      return;
    }
    const passed = connect(Number(port), host, () => {
      socket.write('HTTP/1.1 200 OK\r\n\r\n');
      passed.pipe(socket);
      socket.pipe(passed);
    });
    passed.on('error', () => socket.destroy());
    socket.on('error', () => passed.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, GATEWAY, resolve));
  return {
    url: `http://${GATEWAY}:${String((server.address() as AddressInfo).port)}/100%25?a={b}&c=%20,d#e`,
    asked,
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
