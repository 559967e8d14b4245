import type { Inventory, LinuxHost } from '../../inventory/inventory.ts';
import { type JsonObject, kubeconfigOf, objectOf, objectsOf, textIn, within } from '../../shell/decode.ts';
import { revealed, Secret } from '../../shell/secret.ts';
import { sh } from '../../shell/sh.ts';
import type { Remote } from '../../ssh/remote.ts';
import { type Answer, framedScript, readFrames } from './framed-script.ts';
import { type ClientIdentity, Detour, type Forward, type HttpAnswer, httpsPeer, type HttpsPeer } from './https-peer.ts';
import type { Ask } from './observe-linux.ts';
import { apiServerAt } from './places.ts';

const decoded = (data: unknown): string => Buffer.from(textIn(data), 'base64').toString('utf8');

const named = (list: unknown, name: unknown): JsonObject | undefined =>
  objectsOf(list).find((one) => one['name'] === name);

function identityIn(text: string): ClientIdentity | undefined {
  const { whole } = kubeconfigOf(text);
  const context = within(named(whole['contexts'], whole['current-context']), 'context');
  const cluster = within(named(whole['clusters'], context['cluster']), 'cluster');
  const user = within(named(whole['users'], context['user']), 'user');
  const data = [cluster['certificate-authority-data'], user['client-certificate-data'], user['client-key-data']];
  // What leads to a file or a program of the host, or trusts any server, is kubectl's to use.
  const others = ['tls-server-name', 'insecure-skip-tls-verify', 'proxy-url'].some((key) => cluster[key] !== undefined);
  if (others || data.includes(undefined)) return undefined;
  const [ca, certificate, key] = data.map(decoded);
  return { ca: ca!, certificate: certificate!, key: Secret.of(key!) };
}

/** Who the current context of a kubeconfig is. @throws Detour if the file alone does not tell it */
function kubeconfigIdentity(text: string): ClientIdentity {
  let found: ClientIdentity | undefined;
  try {
    found = identityIn(text);
  } catch {
    // Its text may hold a key, and so may the parser's error.
  }
  if (found === undefined) throw new Detour('the administrator’s kubeconfig holds no certificate that kbuild can use');
  return found;
}

/** Who the administrator is on a control plane: what its admin.conf says. @throws Detour; CommandError; ConnectError */
export const administratorOn = async ({ reveal }: Pick<Remote<'sh'>, 'reveal'>): Promise<ClientIdentity> =>
  kubeconfigIdentity(revealed(await reveal(OWN.kubeconfig)));

/** Only names and metadata: what the API server does not send costs neither side anything. */
export const METADATA_ONLY = 'application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1';

/** The same of one object. */
export const METADATA_OF_ONE = 'application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1';

/** How long an API server may take to say that it is ready, in ms: one that is not is given up. */
const READY_MS = 3000;

/** What the acting control plane tells of itself, by one small script: everything else is asked over channels. */
const OWN = {
  nowMs: sh`date +%s%N`,
  ca: sh`cat /etc/kubernetes/pki/ca.crt`,
  // As kubectl does with KUBECONFIG=admin.conf:super-admin.conf.
  kubeconfig: sh`cd /etc/kubernetes; if [ -e admin.conf ]; then cat admin.conf; else cat super-admin.conf; fi`,
  rotations: sh`cd /etc/kubernetes/pki; for file in ca-new.crt sa-new.pub; do if [ -e "$file" ]; then echo "$file"; fi; done`,
} as const;

/** The certificates of the local member of etcd, which etcdctl uses too (templates/cluster/etcd-tools.sh). */
const ETCD = {
  etcdCa: sh`cat /etc/kubernetes/pki/etcd/ca.crt`,
  etcdCertificate: sh`cat /etc/kubernetes/pki/etcd/server.crt`,
  etcdKey: sh`cat /etc/kubernetes/pki/etcd/server.key`,
} as const;

/** What a control plane told of itself, by the names of `ownCommands`. */
export type Told = Readonly<Record<string, Answer>>;

/** What a control plane is asked of itself: it may be asked beside something else. */
export const ownCommands = ({ cluster, etcd }: Record<'cluster' | 'etcd', boolean>) => ({
  ...(cluster ? OWN : {}),
  ...(etcd ? ETCD : {}),
});

/** What the host told by one of the commands. Throws why it told nothing. */
function toldBy(told: Told, name: string): string {
  const answer = told[name] ?? { failed: 'the host sent no answer' };
  if ('failed' in answer) throw new Error(answer.failed);
  return answer.stdout;
}

/** Who kbuild is to etcd. Throws if the host does not tell. */
const etcdIdentity = (told: Told): ClientIdentity => ({
  ca: toldBy(told, 'etcdCa'),
  certificate: toldBy(told, 'etcdCertificate'),
  key: Secret.of(toldBy(told, 'etcdKey')),
});

/** Connections from one host to others, by address; all of them end together. */
interface Peers {
  readonly at: (host: string, port: number, as: 'administrator' | 'etcd') => HttpsPeer;
  readonly told: Promise<Told>;
  readonly close: () => void;
}

/** What a channel needs of a host. */
export interface ChannelTools {
  readonly ask: Ask;
  readonly forward: Forward;
  readonly nonce: () => string;
  /** What the host has just told of itself: it is not asked again. */
  readonly told?: Told | undefined;
}

/**
 * Begins to ask a host what it tells of itself. `about`: `cluster` for the administrator's certificate and, if `etcd`,
 * for that of etcd. Certificates and keys are in memory until the observation has ended.
 */
function peersOf({ ask, forward, nonce, told: given }: ChannelTools, about: Parameters<typeof ownCommands>[0]): Peers {
  const word = nonce();
  const asked = async (): Promise<Told> => {
    const command = { ...framedScript(ownCommands(about), word), title: 'observe the cluster (certificates)' };
    const { stdout, stderr } = await ask(command);
    return readFrames(stdout, stderr, word);
  };
  const told = given === undefined ? asked() : Promise.resolve(given);
  const administrator = told.then((answers) => {
    const answer = answers['kubeconfig'];
    if (answer === undefined || 'failed' in answer) throw new Detour('the administrator’s kubeconfig cannot be read');
    return kubeconfigIdentity(answer.stdout);
  });
  const etcd = told.then(etcdIdentity);
  // Each request over them rejects with it.
  for (const one of [told, administrator, etcd]) one.catch(() => undefined);
  const known = new Map<string, HttpsPeer>();
  return {
    told,
    at: (host, port, as) => {
      const key = `${as} ${host} ${String(port)}`;
      const peer = known.get(key) ?? httpsPeer(forward, { host, port }, as === 'etcd' ? etcd : administrator);
      known.set(key, peer);
      return peer;
    },
    close: () => {
      for (const peer of known.values()) peer.close();
    },
  };
}

/** Members of etcd, by client URLs. */
const etcdAt = (peers: Peers) => (url: string) => {
  const { hostname, port } = new URL(url);
  return peers.at(hostname.replace(/^\[(.*)\]$/, '$1'), port === '' ? 443 : Number(port), 'etcd');
};

/** Etcd as one of its members shows it, by client URLs. Close it: until then the certificate is in memory. */
export function etcdPeers(tools: ChannelTools): {
  readonly begun: Promise<unknown>;
  readonly at: (url: string) => HttpsPeer;
  readonly close: () => void;
} {
  const peers = peersOf(tools, { cluster: false, etcd: true });
  return { begun: peers.told, at: etcdAt(peers), close: peers.close };
}

/** The cluster as a control plane shows it over SSH's own channel. */
export interface ClusterChannel {
  /** Settles when the host has told something of itself. Rejects as its command does. */
  readonly begun: Promise<unknown>;
  /** What the host told of itself. Throws why it told nothing. */
  readonly told: (name: keyof typeof OWN) => Promise<string>;
  /** What the control plane's own API server sends for a path, asked once. Throws what it says instead. */
  readonly get: (path: string, accept?: string) => Promise<string>;
  /** The same; undefined where there is no such thing. */
  readonly find: (path: string, accept?: string) => Promise<string | undefined>;
  /** What an API server says of its readiness, or why it says nothing. Rejects with a Detour only. */
  readonly readyz: (server: { readonly host: string; readonly port: number }, withinMs?: number) => Promise<string>;
  readonly etcdPeer: (url: string) => HttpsPeer;
  readonly close: () => void;
}

/** The error of an answer as kubectl words it. */
function refusalOf({ status, body }: HttpAnswer): Error {
  try {
    const { reason, message } = objectOf(JSON.parse(body));
    return new Error(`Error from server (${textIn(reason, String(status))}): ${textIn(message)}`);
  } catch {
    return new Error(`Error from server (${String(status)}): ${body.trim()}`);
  }
}

/** Begins to ask a control plane. Close it: until then the administrator's certificate is in memory. */
export function clusterChannel(
  inventory: Inventory,
  host: LinuxHost,
  tools: ChannelTools,
  etcd: boolean,
): ClusterChannel {
  const peers = peersOf(tools, { cluster: true, etcd });
  const { host: address, port } = apiServerAt(inventory, host);
  // Its channel is opened while the host still tells who the administrator is.
  const api = peers.at(address, port, 'administrator');
  const asked = new Map<string, Promise<HttpAnswer>>();
  const answer = (path: string, accept = 'application/json'): Promise<HttpAnswer> => {
    const key = `${accept} ${path}`;
    const found = asked.get(key) ?? api.request(path, { accept });
    asked.set(key, found);
    return found;
  };
  return {
    begun: peers.told,
    told: async (name) => toldBy(await peers.told, name),
    get: async (path, accept) => {
      const found = await answer(path, accept);
      if (found.status !== 200) throw refusalOf(found);
      return found.body.trim();
    },
    find: async (path, accept) => {
      const found = await answer(path, accept);
      if (found.status === 404) return undefined;
      if (found.status !== 200) throw refusalOf(found);
      return found.body;
    },
    readyz: async (server, withinMs = READY_MS) => {
      try {
        const said = await peers.at(server.host, server.port, 'administrator').request('/readyz', { withinMs });
        return said.status === 200 || said.body.includes('[-]') ? said.body : refusalOf(said).message;
      } catch (error) {
        if (error instanceof Detour) throw error;
        return (error as Error).message;
      }
    },
    etcdPeer: etcdAt(peers),
    close: peers.close,
  };
}
