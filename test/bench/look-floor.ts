/**
 * The floor of a look at a cluster: one connection and one empty script a host, and one GET of the nodes through a channel of the first
 * host, which is a control plane or bare. Verifies no host key. Arguments: key, hosts….
 */
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { type ClientHttp2Session, connect as connectHttp2 } from 'node:http2';
import { connect as connectTls } from 'node:tls';
import { promisify } from 'node:util';
import ssh2 from 'ssh2';
import { parse } from 'yaml';

const [key, ...hosts] = process.argv.slice(2);

async function dial(host: string): Promise<ssh2.Client> {
  const client = new ssh2.Client();
  client.on('connect', () => client.setNoDelay(true));
  const login = { type: 'publickey' as const, username: 'root', key: readFileSync(key!) };
  client.connect({ host, username: 'root', authHandler: [login] });
  await once(client, 'ready');
  return client;
}

async function run(client: ssh2.Client, script: string): Promise<string> {
  const stream = await promisify<string, ssh2.ClientChannel>(client.exec.bind(client))('/bin/sh -s');
  let text = '';
  stream.on('data', (chunk: Buffer) => (text += chunk.toString()));
  stream.stderr.resume();
  stream.end(script);
  await once(stream, 'close');
  return text;
}

type Parts = readonly Readonly<Record<string, Readonly<Record<string, string>>>>[];

async function getNodes(client: ssh2.Client, kubeconfig: string): Promise<void> {
  const { clusters, users } = parse(kubeconfig) as { readonly clusters: Parts; readonly users: Parts };
  const pem = (of: Parts, part: string, name: string) => Buffer.from(of[0]![part]![`${name}-data`]!, 'base64');
  const stream = await new Promise<ssh2.ClientChannel>((resolve, reject) =>
    client.forwardOut('127.0.0.1', 0, hosts[0]!, 6443, (error, opened) => (error ? reject(error) : resolve(opened))),
  );
  const socket = connectTls({
    ...{
      socket: stream,
      host: hosts[0]!,
      ALPNProtocols: ['h2'],
      ca: pem(clusters, 'cluster', 'certificate-authority'),
    },
    ...{ cert: pem(users, 'user', 'client-certificate'), key: pem(users, 'user', 'client-key') },
  });
  const session: ClientHttp2Session = connectHttp2(`https://${hosts[0]!}:6443`, { createConnection: () => socket });
  const request = session.request({ ':path': '/api/v1/nodes' });
  const [headers] = (await once(request, 'response')) as [Readonly<Record<string, unknown>>];
  if (headers[':status'] !== 200) throw new Error('the API does not tell its nodes');
  request.resume();
  await once(request, 'close');
  session.destroy();
}

const clients = await Promise.all(hosts.map(dial));
const [kubeconfig = ''] = await Promise.all(
  clients.map((client, i) => run(client, i === 0 ? 'cat /etc/kubernetes/admin.conf 2>/dev/null' : '')),
);
if (kubeconfig !== '') await getNodes(clients[0]!, kubeconfig);
for (const client of clients) client.destroy();
