import { readFileSync } from 'node:fs';
import type { Ask } from '../../src/cluster/fleet/observe-linux.ts';
import type { ExecResult } from '../../src/ssh/transport.ts';
import { type FakeAnswer, pem } from './https-server.ts';

/** What commands on a control plane printed once: the frames of all probes of the cluster, with the nonce `NONCE`. */
export const captured = readFileSync(new URL('../fixtures/cluster/kubernetes-1.36.3.txt', import.meta.url), 'utf8');

const frame = (name: string): string => new RegExp(`NONCE:begin:${name}\n([^]*?)\nNONCE:end`).exec(captured)![1]!;

const base64 = (text: string): string => Buffer.from(text).toString('base64');

/** admin.conf with the certificates of test/fixtures/https. */
export const adminConf = (ca: string = pem.ca): string =>
  JSON.stringify({
    'current-context': 'a@b',
    contexts: [{ name: 'a@b', context: { cluster: 'b', user: 'a' } }],
    clusters: [
      { name: 'b', cluster: { server: 'https://k8s.example:6443', 'certificate-authority-data': base64(ca) } },
    ],
    users: [
      { name: 'a', user: { 'client-certificate-data': base64(pem.client), 'client-key-data': base64(pem.clientKey) } },
    ],
  });

/** What the host's own script prints. `over`: other texts; undefined: its command failed. */
export function ownFrames(over: Readonly<Record<string, string | undefined>> = {}): ExecResult {
  const texts: Readonly<Record<string, string | undefined>> = {
    nowMs: frame('nowMs'),
    ca: frame('ca'),
    kubeconfig: adminConf(),
    rotations: '',
    etcdCa: pem.ca,
    etcdCertificate: pem.server,
    etcdKey: pem.serverKey,
    ...over,
  };
  const frames = Object.entries(texts).map(
    ([name, text]) => `NONCE:begin:${name}\n${text ?? ''}\nNONCE:end:${name}:${text === undefined ? '1' : '0'}\n`,
  );
  return { stdout: frames.join(''), stderr: '', status: 0 };
}

/** Asks a host whose own script prints this, and whose other commands print what was captured. */
export const askOf =
  (own: ExecResult, commands: ExecResult = { stdout: captured, stderr: '', status: 0 }): Ask =>
  ({ script }) =>
    Promise.resolve(script.includes('super-admin.conf; fi') ? own : commands);

const { items } = JSON.parse(frame('objects0')) as {
  readonly items: readonly {
    readonly apiVersion: string;
    readonly kind: string;
    readonly metadata: { readonly name: string; readonly namespace?: string };
  }[];
};

const rootOf = (apiVersion: string): string =>
  apiVersion.includes('/') ? `/apis/${apiVersion}` : `/api/${apiVersion}`;
const plural = (kind: string): string => `${kind.toLowerCase()}s`;

/** What the API has of the captured objects, by path. */
const objectAt = new Map(
  items.map((item) => {
    const { name, namespace } = item.metadata;
    const space = namespace === undefined ? '' : `/namespaces/${namespace}`;
    return [`${rootOf(item.apiVersion)}${space}/${plural(item.kind)}/${name}`, item];
  }),
);

/** The kinds of a group and version. */
const kindsAt = (apiVersion: string) => ({
  kind: 'APIResourceList',
  resources: items
    .filter((item) => item.apiVersion === apiVersion)
    .concat(apiVersion === 'v1' ? [{ apiVersion, kind: 'Secret', metadata: { name: '', namespace: 'x' } }] : [])
    .map(({ kind, metadata: { namespace } }) => ({ kind, name: plural(kind), namespaced: namespace !== undefined })),
});

const tokens = frame('tokens')
  .trim()
  .split('\n')
  .map((line) => line.split(' '))
  .map(([id, description]) => ({ data: { 'token-id': id, description, 'token-secret': base64('not to be seen') } }));

const etcd = Object.fromEntries(
  frame('etcd')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => [line.slice(0, line.indexOf(' ')), line.slice(line.indexOf(' ') + 1)]),
);

/** Numbers of etcd's gateway are texts. */
const gateway = (json: string): string => json.replaceAll(/:(\d{5,})/g, ':"$1"');

const FIXED: Readonly<Record<string, string>> = {
  'GET /readyz': 'ok',
  'GET /api/v1/nodes': frame('nodes'),
  'GET /api/v1/namespaces/kube-system/configmaps': frame('configMaps'),
  'GET /api/v1/namespaces/kube-system/pods': frame('systemPods'),
  'GET /api/v1/namespaces/kube-flannel/pods': frame('pluginPods').trim(),
  'GET /api/v1/namespaces/kube-system/secrets?fieldSelector=type%3Dbootstrap.kubernetes.io/token': JSON.stringify({
    items: tokens,
  }),
  'GET /api/v1/namespaces/default/secrets/pull': JSON.stringify({
    metadata: { namespace: 'default', name: 'pull', annotations: { 'kbuild.dev/hash': 'abc' } },
  }),
  'POST /v3/cluster/member/list': gateway(etcd['members']!),
  'POST /v3/maintenance/alarm': gateway(etcd['alarms']!),
  'POST /v3/maintenance/status': gateway(
    JSON.stringify((JSON.parse(gateway(etcd['status']!)) as readonly { readonly Status: unknown }[])[0]!.Status),
  ),
  'POST /v3/kv/range': '{"header":{}}',
};

/** The answers of an API server and an etcd of the captured cluster. */
export function capturedCluster(request: string): FakeAnswer {
  const fixed = FIXED[request];
  if (fixed !== undefined) return { body: fixed };
  const path = request.replace(/^GET /, '');
  const object = objectAt.get(path);
  if (object !== undefined)
    return { body: JSON.stringify({ ...object, metadata: { ...object.metadata, managedFields: [{}] } }) };
  const version = items.map(({ apiVersion }) => apiVersion).find((one) => rootOf(one) === path);
  if (version !== undefined) return { body: JSON.stringify(kindsAt(version)) };
  return { status: 404, body: JSON.stringify({ kind: 'Status', reason: 'NotFound', message: 'not found' }) };
}
