/**
 * What `kubeadm.exe join` does on a worker, for real: discovery with the token's signature and the CA's hash, the
 * configuration from the cluster, and the kubelet's TLS bootstrap against the API server. What it would leave on the disk
 * is returned.
 */
import { createHmac, X509Certificate } from 'node:crypto';
import { parse, parseAllDocuments, stringify } from 'yaml';
import { spkiFingerprint } from '../../../src/certificates/fingerprint.value.ts';
import { type Api, type ApiAccess, ApiError, apiOf } from './api.ts';
import { certificateRequest } from './certificate-request.ts';

interface JoinConfiguration {
  readonly apiVersion: string;
  readonly kind: string;
  readonly nodeRegistration?: {
    readonly name?: string;
    readonly criSocket?: string;
    readonly taints?: readonly { readonly key: string; readonly value?: string; readonly effect: string }[];
    readonly kubeletExtraArgs?: readonly { readonly name: string; readonly value: string }[];
  };
  readonly discovery: {
    readonly bootstrapToken?: {
      readonly token: string;
      readonly apiServerEndpoint: string;
      readonly caCertHashes?: readonly string[];
    };
  };
}

/** Files that a join leaves, by Windows path. */
export type JoinFiles = Readonly<Record<string, string>>;

/** kubeadm's last words, and its status 1. */
export class KubeadmError extends Error {
  override name = 'KubeadmError';
}

/** How a join is watched and made impatient. */
export interface JoinOptions {
  /** Called before each part, with kubeadm's own name of it; rejects to die there. */
  readonly onPhase?: (phase: 'discovery' | 'kubelet-start' | 'tls-bootstrap') => Promise<void> | void;
  /** How long the certificate may take. Default 60 s. */
  readonly patienceMs?: number;
  readonly signal?: AbortSignal;
}

/** kubeadm's own default for calls of the API. */
const API_MS = 60_000;

const SOCKET = 'npipe:////./pipe/containerd-containerd';

interface KubeConfig {
  readonly clusters: readonly {
    readonly cluster: { readonly server: string; readonly 'certificate-authority-data': string };
  }[];
}

/** kubeadm's `kubeconfig` of the cluster-info ConfigMap, believed when the token signed it. */
async function discovered(access: ApiAccess, token: string, patienceMs: number): Promise<string> {
  const until = Date.now() + patienceMs;
  for (;;) {
    try {
      return await signedInfo(access, token);
    } catch (error) {
      // The controller that signs takes a moment for a new token; kubeadm asks again until its timeout.
      if (!(error instanceof Unsigned) || Date.now() > until) throw error;
      await new Promise((resolve) => setTimeout(resolve, 500));
    }
  }
}

/** The token has not signed the ConfigMap, or not yet. */
class Unsigned extends KubeadmError {}

async function signedInfo(access: ApiAccess, token: string): Promise<string> {
  const { data } = (await apiOf(access).get('/api/v1/namespaces/kube-public/configmaps/cluster-info')) as {
    data: Record<string, string>;
  };
  const [id = '', secret = ''] = token.split('.');
  const jws = data[`jws-kubeconfig-${id}`];
  if (jws === undefined)
    throw new Unsigned(
      `error execution phase preflight: couldn't validate the identity of the API Server: could not find a JWS signature in the cluster-info ConfigMap for token ID "${id}"`,
    );
  const [header = '', , signature = ''] = jws.split('.');
  const text = data['kubeconfig']!;
  const expected = createHmac('sha256', secret)
    .update(`${header}.${Buffer.from(text).toString('base64url')}`)
    .digest('base64url');
  if (expected !== signature)
    throw new KubeadmError(
      "error execution phase preflight: couldn't validate the identity of the API Server: failed to verify JWS signature of received cluster info object",
    );
  return text;
}

/** The CA of the cluster. @throws KubeadmError where it is not one of those that were named. */
async function authority(
  endpoint: string,
  token: string,
  hashes: readonly string[],
  patienceMs: number,
): Promise<string> {
  const server = `https://${endpoint}`;
  const caOf = (text: string): string => {
    const { clusters } = parse(text) as KubeConfig;
    return Buffer.from(clusters[0]!.cluster['certificate-authority-data'], 'base64').toString('utf8');
  };
  const ca = caOf(await discovered({ server, patienceMs: API_MS }, token, patienceMs));
  if (!hashes.includes(spkiFingerprint(ca)))
    throw new KubeadmError(
      `error execution phase preflight: couldn't validate the identity of the API Server: cluster CA found in cluster-info ConfigMap is invalid: none of the public keys "${spkiFingerprint(ca)}" are pinned`,
    );
  if (caOf(await discovered({ server, ca, patienceMs: API_MS }, token, patienceMs)) !== ca)
    throw new KubeadmError('error execution phase preflight: the second cluster-info differs from the first');
  return ca;
}

/** A certificate of the kubelet's own, signed by the cluster's controller manager. */
async function bootstrapped(api: Api, node: string, patienceMs: number, signal?: AbortSignal) {
  const { key, request } = await certificateRequest(node);
  const made = (await api.create('/apis/certificates.k8s.io/v1/certificatesigningrequests', {
    apiVersion: 'certificates.k8s.io/v1',
    kind: 'CertificateSigningRequest',
    metadata: { generateName: 'node-csr-' },
    spec: {
      request: Buffer.from(request).toString('base64'),
      signerName: 'kubernetes.io/kube-apiserver-client-kubelet',
      usages: ['digital signature', 'client auth'],
    },
  })) as { metadata: { name: string } };
  const until = Date.now() + patienceMs;
  for (;;) {
    const { status } = (await api.get(
      `/apis/certificates.k8s.io/v1/certificatesigningrequests/${made.metadata.name}`,
    )) as { status?: { certificate?: string } };
    if (status?.certificate !== undefined)
      return { key, certificate: Buffer.from(status.certificate, 'base64').toString('utf8') };
    signal?.throwIfAborted();
    if (Date.now() > until)
      throw new KubeadmError('error execution phase kubelet-start: timed out waiting for the condition');
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
}

const kubeconfig = (access: { server: string; ca: string }, user: string, login: object): string =>
  stringify({
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [
      {
        name: 'default-cluster',
        cluster: { server: access.server, 'certificate-authority-data': Buffer.from(access.ca).toString('base64') },
      },
    ],
    contexts: [{ name: 'default-context', context: { cluster: 'default-cluster', namespace: 'default', user } }],
    users: [{ name: user, user: login }],
    'current-context': 'default-context',
  });

/** Where the kubelet keeps its certificate and key. */
export const CLIENT_CERTIFICATE = 'C:\\var\\lib\\kubelet\\pki\\kubelet-client-current.pem';
/** The kubelet's way into the cluster; who has it has joined. */
export const KUBELET_CONF = 'C:\\etc\\kubernetes\\kubelet.conf';
/** kubeadm's own way into the cluster, until the kubelet has its certificate. */
export const BOOTSTRAP_CONF = 'C:\\etc\\kubernetes\\bootstrap-kubelet.conf';
/** kubeadm's note for the kubelet's service. */
export const FLAGS_FILE = 'C:\\var\\lib\\kubelet\\kubeadm-flags.env';
/** The kubelet's configuration. */
export const KUBELET_CONFIG = 'C:\\var\\lib\\kubelet\\config.yaml';
/** The certificate authority of the cluster. */
export const CA_FILE = 'C:\\etc\\kubernetes\\pki\\ca.crt';

function registration(document: JoinConfiguration): {
  readonly name: string;
  readonly flags: readonly string[];
} {
  const { name, criSocket, taints = [], kubeletExtraArgs = [] } = document.nodeRegistration ?? {};
  if (name === undefined || !/^[a-z0-9]([a-z0-9.-]*[a-z0-9])?$/.test(name))
    throw new KubeadmError(`nodeRegistration.name: Invalid value: "${name ?? ''}"`);
  if (criSocket !== SOCKET) throw new KubeadmError(`nodeRegistration.criSocket: Invalid value: "${criSocket ?? ''}"`);
  const registered = taints.map(({ key, value = '', effect }) => `${key}=${value}:${effect}`).join(',');
  return {
    name,
    flags: [
      ...(registered === '' ? [] : [`--register-with-taints=${registered}`]),
      ...kubeletExtraArgs.map((argument) => `--${argument.name}=${argument.value}`),
      // kubeadm sorts what it writes (kubeadmutil.ArgumentsToCommand).
    ].toSorted(),
  };
}

/** The one JoinConfiguration of a text. @throws KubeadmError as kubeadm does for what it cannot read */
function configuration(text: string): JoinConfiguration {
  if (text.startsWith('\uFEFF'))
    throw new KubeadmError('error converting YAML to JSON: yaml: invalid leading UTF-8 octet');
  const documents = parseAllDocuments(text).map((document) => document.toJS() as JoinConfiguration);
  const found = documents.filter(({ kind }) => kind === 'JoinConfiguration');
  if (found.length !== 1) throw new KubeadmError('no JoinConfiguration was found in the config file');
  if (found[0]!.apiVersion !== 'kubeadm.k8s.io/v1beta4')
    throw new KubeadmError(`your configuration file uses an old API spec: "${found[0]!.apiVersion}"`);
  return found[0]!;
}

/** Joins a node: the files that kubeadm and the kubelet's bootstrap leave. @throws KubeadmError, ApiError */
export async function kubeadmJoin(text: string, options: JoinOptions = {}): Promise<JoinFiles> {
  const document = configuration(text);
  const { name, flags } = registration(document);
  const bootstrap = document.discovery.bootstrapToken;
  if (bootstrap === undefined) throw new KubeadmError('discovery.bootstrapToken: Required value');
  const { token, apiServerEndpoint, caCertHashes = [] } = bootstrap;
  if (!/^[a-z0-9]{6}\.[a-z0-9]{16}$/.test(token))
    throw new KubeadmError('discovery.bootstrapToken.token: Invalid value: the bootstrap token is invalid');

  await options.onPhase?.('discovery');
  const ca = await authority(apiServerEndpoint, token, caCertHashes, options.patienceMs ?? 60_000);
  const server = `https://${apiServerEndpoint}`;
  const api = apiOf({ server, ca, token, patienceMs: API_MS });
  const configMap = async (which: string): Promise<Record<string, string>> =>
    ((await api.get(`/api/v1/namespaces/kube-system/configmaps/${which}`)) as { data: Record<string, string> }).data;
  await configMap('kubeadm-config');
  const shared = parse((await configMap('kubelet-config'))['kubelet']!) as Record<string, unknown>;

  const exists = await api.get(`/api/v1/nodes/${name}`).catch((error: unknown) => {
    if (error instanceof ApiError && error.status === 404) return undefined;
    throw error;
  });
  const { conditions = [] } = (exists?.['status'] ?? {}) as { conditions?: { type: string; status: string }[] };
  if (conditions.some(({ type, status }) => type === 'Ready' && status === 'True'))
    throw new KubeadmError(
      `error execution phase kubelet-start: a Node with name "${name}" and status "Ready" already exists in the cluster. You must delete the existing Node or change the name of this new joining Node`,
    );

  await options.onPhase?.('kubelet-start');
  // kubeadm mutates these on Windows: nothing reads resolv.conf, and paths get the drive of kubeadm.exe.
  const kubelet = { ...shared, resolvConf: '', staticPodPath: 'C:\\etc\\kubernetes\\manifests' };

  await options.onPhase?.('tls-bootstrap');
  const { key, certificate } = await bootstrapped(api, name, options.patienceMs ?? 60_000, options.signal);
  const subject = new X509Certificate(certificate).subject;
  if (!subject.includes(`CN=system:node:${name}`)) throw new KubeadmError(`the certificate is for ${subject}`);
  return {
    [CA_FILE]: ca,
    [KUBELET_CONFIG]: stringify(kubelet),
    [FLAGS_FILE]: `KUBELET_KUBEADM_ARGS="${flags.join(' ')}"\r\n`,
    'C:\\var\\lib\\kubelet\\instance-config.yaml': stringify({
      apiVersion: 'kubelet.config.k8s.io/v1beta1',
      kind: 'KubeletConfiguration',
      containerRuntimeEndpoint: SOCKET,
    }),
    [CLIENT_CERTIFICATE]: `${certificate}${key}`,
    [KUBELET_CONF]: kubeconfig({ server, ca }, 'default-auth', {
      'client-certificate': CLIENT_CERTIFICATE,
      'client-key': CLIENT_CERTIFICATE,
    }),
  };
}

/** What the kubelet reads back from its files to log in. */
export function kubeletAccess(
  read: (path: string) => string | undefined,
): Required<Omit<ApiAccess, 'token' | 'patienceMs'>> {
  const text = read(KUBELET_CONF);
  const pem = read(CLIENT_CERTIFICATE);
  if (text === undefined || pem === undefined) throw new Error('failed to load kubelet.conf');
  const { cluster } = (parse(text) as KubeConfig).clusters[0]!;
  return {
    server: cluster.server,
    ca: Buffer.from(cluster['certificate-authority-data'], 'base64').toString('utf8'),
    cert: pem,
    key: pem,
  };
}
