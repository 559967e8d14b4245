import { X509Certificate } from 'node:crypto';
import { spkiFingerprint } from '../certificates/fingerprint.value.ts';
import { canonical } from '../inventory/addresses.ts';
import type { Inventory, LinuxHost } from '../inventory/inventory.ts';
import { paths } from '../paths.ts';
import type { Command } from '../shell/command.ts';
import { objectOf, within } from '../shell/decode.ts';
import { clockOf, lines, numberOf, probeInPlace, timeOf } from '../shell/probe.ts';
import { sh } from '../shell/sh.ts';
import { script, using } from '../templates.ts';

/** One certificate that etcd's authority signs. */
interface EtcdCertificate {
  readonly name: string;
  /** True if its private key is in the same folder. */
  readonly hasKey: boolean;
  /** True if the authority on the same host signed it. */
  readonly isIssued: boolean;
  /** Milliseconds since the epoch. */
  readonly beginsMs: number;
  /** Milliseconds since the epoch. */
  readonly expiresMs: number;
  /** Addresses and names for which it is valid. */
  readonly names: readonly string[];
}

/** etcd's certificates on a host. */
export interface EtcdPki {
  /** The host's clock, ms since the epoch. */
  readonly nowMs: number;
  /** True if a run was interrupted while it signed: certificates and keys may not belong together. */
  readonly isUnfinished: boolean;
  /** Fingerprint of etcd's authority; `absent` if the host has none. */
  readonly authority: string;
  readonly certificates: readonly EtcdCertificate[];
}

/** Staging folder for new certificates. */
export const ETCD_SIGNING = '/etc/kubernetes/pki/etcd/kbuild-signing';

function certificateOf(block: string, authority: X509Certificate | undefined): EtcdCertificate {
  const [head = '', ...pem] = block.split('\n');
  const [name = '', key] = head.split(' ');
  const found = new X509Certificate(pem.join('\n'));
  return {
    name,
    hasKey: key === 'key',
    isIssued: authority !== undefined && found.checkIssued(authority) && found.verify(authority.publicKey),
    beginsMs: timeOf(found.validFrom),
    expiresMs: timeOf(found.validTo),
    names: (found.subjectAltName ?? '').split(', ').map((one) => canonical(one.replace(/^(?:DNS|IP Address):/, ''))),
  };
}

/**
 * Public parts of etcd's certificates on the hosts of an etcd that kbuild builds, and on the control planes that use
 * it; `not asked` on all others.
 */
export function etcdPki({ etcd }: Inventory, host: LinuxHost) {
  const leaves = { etcd: ['server', 'peer', 'healthcheck-client'], 'control-plane': ['apiserver-etcd-client'] };
  const wanted =
    etcd.topology === 'built' && (host.role === 'etcd' || host.role === 'control-plane') ? leaves[host.role] : [];
  return probeInPlace(
    script('etcd/probe-etcd-pki.sh', { WANTED: wanted.join(' '), ETCD_CA: paths.etcdCa, SIGNING: ETCD_SIGNING }),
    (out): EtcdPki | 'not asked' => {
      if (out.trim() === 'not asked') return 'not asked';
      const [head = '', ...blocks] = out.split(/^certificate /m);
      const ca = blocks.find((block) => block.startsWith('ca '))?.replace(/^.*\n/, '');
      const authority = ca === undefined ? undefined : new X509Certificate(ca);
      return {
        nowMs: clockOf(head.split('\n', 1)[0]!),
        isUnfinished: head.includes('unfinished'),
        authority: ca === undefined ? 'absent' : spkiFingerprint(ca),
        certificates: blocks
          .filter((block) => !block.startsWith('ca '))
          .map((block) => certificateOf(block, authority)),
      };
    },
  );
}

/**
 * The range of the keys `/registry/…`, in base64 for etcd's HTTP gateway: the first key, and the first key after the
 * range.
 */
const REGISTRY = { first: 'L3JlZ2lzdHJ5Lw==', beyond: 'L3JlZ2lzdHJ5MA==' } as const;

/**
 * The answer of one endpoint of the user's etcd to a client with the API server's certificate. `problem`: why kbuild
 * cannot use the answer.
 */
export interface EtcdEndpoint {
  readonly url: string;
  readonly problem: string | undefined;
  /** e.g. `3.6.8`; empty with a problem. */
  readonly version: string;
  /** Number of keys below /registry/: objects of a Kubernetes cluster. */
  readonly keys: number;
}

interface Answers {
  readonly etcdserver?: string;
  readonly health?: string | boolean;
  readonly count?: string;
}

function answer(text: string): Answers {
  try {
    return objectOf(JSON.parse(text));
  } catch {
    return {};
  }
}

function parse(block: string): EtcdEndpoint {
  const [url = '', ...lines] = block.split('\n');
  const field = (name: string): string =>
    lines.find((line) => line.startsWith(`${name} `))?.slice(name.length + 1) ?? '';
  const failed = (problem: string): EtcdEndpoint => ({ url, problem, version: '', keys: 0 });
  if (field('error') !== '') return failed(field('error'));
  const { etcdserver } = answer(field('version'));
  if (typeof etcdserver !== 'string')
    return failed(`it does not report its version (${field('version').slice(0, 80)})`);
  const { health } = answer(field('health'));
  if (String(health) !== 'true') return failed(`it is not healthy (${field('health').slice(0, 80)})`);
  if (!field('keys').startsWith('{"header"')) return failed(`its keys cannot be read (${field('keys').slice(0, 120)})`);
  return { url, problem: undefined, version: etcdserver, keys: numberOf(String(answer(field('keys')).count ?? 0)) };
}

/**
 * Answers of the user's etcd to a control plane that has not joined, with the client certificate of its future API
 * server. `not asked` if the host does not have that certificate yet, or if etcd is stacked.
 */
export function externalEtcd({ etcd }: Inventory, host: LinuxHost) {
  const urls = etcd.topology !== 'stacked' && host.role === 'control-plane' ? etcd.endpoints : [];
  const range = JSON.stringify({ key: REGISTRY.first, range_end: REGISTRY.beyond, count_only: true });
  return probeInPlace(
    script('etcd/probe-external-etcd.sh', {
      URLS: urls.join(' '),
      RANGE: range,
      CA: paths.etcdCa,
      CERTIFICATE: paths.etcdClientCertificate,
      KEY: paths.etcdClientKey,
    }),
    (out): readonly EtcdEndpoint[] | 'not asked' =>
      out.trim() === 'not asked'
        ? 'not asked'
        : out
            .split(/^endpoint /m)
            .slice(1)
            .map(parse),
  );
}

/** The folder for etcd's data on a host: kubeadm's default, or `kubeadm.cluster.etcd.local.dataDir`. */
export function etcdFolderOf({ kubeadm }: Pick<Inventory, 'kubeadm'>): string {
  const folder = within(kubeadm.cluster, 'etcd', 'local')['dataDir'];
  return typeof folder === 'string' && folder !== '' ? folder : paths.etcdData;
}

/** The host's manifest of etcd, where it is and where a restore keeps it aside. */
const MANIFESTS: readonly string[] = [paths.etcdManifest, `${paths.restoreAside}/etcd.yaml`];

/** The value of a flag in what probe-manifest-flag.sh prints; empty if the manifest lacks it, undefined without one. */
const flagIn = (out: string): string | undefined => {
  const [state, value = ''] = lines(out).map((line) => line.trim());
  return state === 'absent' ? undefined : value;
};

/**
 * A command that may use `$etcd_folder`, the folder of etcd's data. The host's manifest of etcd decides, even while a
 * restore keeps the manifest in another folder, because kbuild may not have built the cluster. Without a manifest the
 * inventory decides. Empty if the manifest names no folder.
 */
export const withEtcdFolder = (inventory: Inventory, command: Command<'sh'>): Command<'sh'> =>
  using(
    script('etcd/etcd-folder.sh', {
      DEFAULT_FOLDER: etcdFolderOf(inventory),
      MANIFESTS,
    }),
    command,
  );

/** The folder of etcd's data on the host, present or future. Throws if the manifest names none. */
export const etcdFolder = (inventory: Inventory) =>
  probeInPlace(withEtcdFolder(inventory, sh`echo "$etcd_folder"`), (out): string => {
    const folder = out.trim();
    if (!folder.startsWith('/')) throw new Error(`${paths.etcdManifest} names no --data-dir`);
    return folder;
  });

/**
 * The name of the cluster for which kbuild made the host's etcd (its `--initial-cluster-token`); empty if kbuild did
 * not make it.
 */
export const etcdToken = probeInPlace(
  script('etcd/probe-manifest-flag.sh', { FILES: MANIFESTS, FLAG: 'initial-cluster-token' }),
  (out): string => flagIn(out) ?? 'absent',
);

/** The etcd endpoints of the host's API server; `absent` on a host without an API server. */
export const etcdServers = probeInPlace(
  script('etcd/probe-manifest-flag.sh', {
    FILES: ['/etc/kubernetes/manifests/kube-apiserver.yaml'],
    FLAG: 'etcd-servers',
  }),
  (out): readonly string[] | 'absent' => {
    const servers = flagIn(out)?.split(',');
    return servers?.map((server) => server.trim()).filter((server) => server !== '') ?? 'absent';
  },
);
