import { createServer, request } from 'node:http';
import { connect, type AddressInfo } from 'node:net';
import { GATEWAY } from './network-plan.ts';

/** What files of systemd, apt and shells have a meaning of their own for. */
const PASSWORD = String.raw`it's 100%: "\ $HOME`;
const LOGIN = `Basic ${Buffer.from(`ops:${PASSWORD}`).toString('base64')}`;

/** An outbound proxy for tests. */
export interface Proxy {
  /** With its login: quotes and percent signs arrive nowhere by luck. */
  readonly url: string;
  /** What it was asked for: URLs, and `host:port` of tunnels. */
  readonly asked: readonly string[];
  stop(): Promise<void>;
}

/** Starts a forward proxy at the lab's gateway. It passes on only to the lab's own servers there, and only for its login. */
export async function httpProxy(): Promise<Proxy> {
  const asked: string[] = [];
  const server = createServer((from, to) => {
    const url = new URL(from.url ?? '/', `http://${GATEWAY}`);
    if (from.headers['proxy-authorization'] !== LOGIN) {
      to.writeHead(407, { 'proxy-authenticate': 'Basic realm="lab"' }).end('who are you?');
      return;
    }
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
    if (from.headers['proxy-authorization'] !== LOGIN) {
      socket.end('HTTP/1.1 407 Proxy Authentication Required\r\nProxy-Authenticate: Basic realm="lab"\r\n\r\n');
      return;
    }
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
    url: `http://ops:${encodeURIComponent(PASSWORD)}@${GATEWAY}:${String((server.address() as AddressInfo).port)}`,
    asked,
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
