import { hostPort } from '../inventory/addresses.ts';
import { apiPort, apiServerUrl } from '../inventory/api-server.ts';
import type { SigningRequest } from '../inventory/control-plane.ts';
import type { Inventory, LinuxHost } from '../inventory/inventory.ts';
import { clusterConfiguration, initConfiguration } from '../kubeadm/config.ts';
import { paths } from '../paths.ts';
import { withRuntime } from '../runtime/runtimes.value.ts';
import type { Command } from '../shell/command.ts';
import { Secret } from '../shell/secret.ts';
import { toYaml } from '../shell/yaml.ts';
import type { Remote } from '../ssh/remote.ts';
import { script, using } from '../templates.ts';
import { authorityOf, type KubeadmAuthority, type RenewedName } from './authorities.value.ts';
import { AUTHORITY_FILES } from './certificates.facts.ts';
import type { PkiFiles } from './shared-files.ts';
import { signedCertificate, signingAuthority } from './signing-command.value.ts';

/** On tmpfs: holds private keys until the signing command returns their certificates. */
const WORK = `${paths.run}/signing`;

interface Leaf {
  readonly profile: SigningRequest['profile'];
  /** The subjects that any version of kubeadm requests. A request for another subject is not signed. */
  readonly subjects: (node: string) => readonly (readonly string[])[];
}

const client = (...subjects: readonly (readonly string[])[]): Leaf => ({ profile: 'client', subjects: () => subjects });

const ADMINS = 'O=kubeadm:cluster-admins';

const ofMember: Leaf = { profile: 'peer', subjects: (node) => [[`CN=${node}`]] };

/**
 * Certificates that kubeadm's authorities sign, by kubeadm's name (cmd/kubeadm/app/phases/certs/certlist.go,
 * kubeconfig).
 */
const LEAVES = {
  apiserver: { profile: 'server', subjects: () => [['CN=kube-apiserver']] },
  'apiserver-kubelet-client': client(
    ['CN=kube-apiserver-kubelet-client'],
    [ADMINS, 'CN=kube-apiserver-kubelet-client'],
  ),
  'admin.conf': client([ADMINS, 'CN=kubernetes-admin']),
  'super-admin.conf': client(['O=system:masters', 'CN=kubernetes-super-admin']),
  'controller-manager.conf': client(['CN=system:kube-controller-manager']),
  'scheduler.conf': client(['CN=system:kube-scheduler']),
  'kubelet.conf': { profile: 'client', subjects: (node) => [kubeletSubject(node)] },
  'front-proxy-client': client(['CN=front-proxy-client']),
  'apiserver-etcd-client': client(['CN=kube-apiserver-etcd-client']),
  'etcd-server': ofMember,
  'etcd-peer': ofMember,
  'etcd-healthcheck-client': client(['CN=kube-etcd-healthcheck-client']),
} as const satisfies Readonly<Record<RenewedName | 'kubelet.conf', Leaf>>;

/** The subject of a kubelet's client certificate. */
export const kubeletSubject = (node: string): readonly string[] => ['O=system:nodes', `CN=system:node:${node}`];

/** A certificate that one of kubeadm's authorities signs, by kubeadm's name. */
type LeafName = keyof typeof LEAVES;

/** The authority that signs a certificate. */
const signerOf = (name: LeafName): KubeadmAuthority => (name === 'kubelet.conf' ? 'ca' : authorityOf(name));

/** Certificates that every control plane has for itself. A kubelet renews its own. */
const CONTROL_PLANE_LEAVES: readonly LeafName[] = [
  'apiserver',
  'apiserver-kubelet-client',
  'admin.conf',
  'controller-manager.conf',
  'scheduler.conf',
  'front-proxy-client',
  'apiserver-etcd-client',
  'etcd-server',
  'etcd-peer',
  'etcd-healthcheck-client',
];

/** The certificates that a host needs before kubeadm's init or join. Only the founder has super-admin.conf. */
export function leavesOf({ role }: LinuxHost, action: 'init' | 'join'): readonly LeafName[] {
  if (role !== 'control-plane') return ['kubelet.conf'];
  return [...CONTROL_PLANE_LEAVES, 'kubelet.conf', ...(action === 'init' ? (['super-admin.conf'] as const) : [])];
}

/** Name of the job's file for a certificate. */
const signedFile = (name: LeafName): string => `signed_${name}`;

/**
 * Signs those of these certificates whose authority signs by a command: creates keys and requests on the host, lets the
 * command sign one after another, and returns the certificates as private files of the job that installs them. Keys
 * never leave the host. Returns no files if kubeadm signs all of them. @throws Refused for a certificate that does not
 * match its request; until then kbuild has only written keys on tmpfs.
 */
export async function signedCertificates(
  remote: Remote<'sh'>,
  inventory: Inventory,
  names: readonly LeafName[],
  accounts: 'with-accounts' | 'without-accounts' = 'without-accounts',
): Promise<PkiFiles> {
  const signed = names.flatMap((name) => {
    const authority = signingAuthority(inventory, signerOf(name));
    return authority === undefined ? [] : [{ name, authority }];
  });
  if (signed.length === 0) return {};
  // kubeadm writes it into kubeconfigs.
  const ofCluster = signingAuthority(inventory);
  const host = remote.host as LinuxHost;
  const said = await remote.run(
    script('certificates/certificate-requests.sh', {
      WORK,
      CONFIG: toYaml([
        initConfiguration(inventory, host),
        { ...clusterConfiguration(inventory), certificatesDir: `${WORK}/pki` },
      ]),
      NAMES: signed.map(({ name }) => name),
      ACCOUNTS: accounts === 'with-accounts' && ofCluster !== undefined ? 'yes' : 'no',
    }),
  );
  const requests = new Map(said.split('\n').map((line) => [line.split(' ')[0]!, line.split(' ')[1] ?? '']));
  const files: Record<string, Secret> = ofCluster === undefined ? {} : { 'authority.crt': Secret.of(ofCluster.cert) };
  for (const { name, authority } of signed) {
    const { profile, subjects }: Leaf = LEAVES[name];
    const request = Buffer.from(requests.get(name) ?? '', 'base64').toString('utf8');
    const asked = { host: host.name, certificate: name, profile, request };
    files[signedFile(name)] = Secret.of(await signedCertificate(authority, asked, subjects(host.name)));
  }
  return files;
}

/** Containers that read their kubeconfig only at start. The API server and the kubelet reload changed files. */
const RESTARTED: Readonly<Record<string, string>> = {
  'controller-manager.conf': 'kube-controller-manager',
  'scheduler.conf': 'kube-scheduler',
};

/**
 * The components that must restart after these kubeconfigs name another server. Not kube-vip: it connects to the API
 * server of its own host.
 */
export const restartedByLead = (led: readonly string[]): readonly string[] =>
  led.flatMap((name) => RESTARTED[name] ?? []);

/**
 * The components that must restart after these certificates are renewed. A kube-vip that is not the leader would not
 * notice that its certificate has expired, and could never take the virtual address over.
 */
export const restartedBy = (
  { loadBalancer }: Pick<Inventory, 'loadBalancer'>,
  renewed: readonly string[],
): readonly string[] => [
  ...restartedByLead(renewed),
  ...(loadBalancer.kind === 'kube-vip' && renewed.includes('admin.conf') ? ['kube-vip'] : []),
];

/**
 * The job that signs a certificate for the kubelet of a control plane on that host, and puts it in its place. Needs
 * config.yaml.
 */
export const signedByThisHost = (inventory: Inventory, host: LinuxHost): Command<'sh'> =>
  using(script('certificates/sign-kubelet.sh', { WORK, NODE: host.name }), placeCertificates(inventory, host));

/**
 * Installs the files of `signedCertificates` from a job's folder. `renewed`: certificates that running components
 * already use.
 */
export const placeCertificates = (
  inventory: Inventory,
  host: LinuxHost,
  renewed: readonly LeafName[] = [],
): Command<'sh'> =>
  withRuntime(
    inventory,
    host,
    script('certificates/place-certificates.sh', {
      WORK,
      NODE: host.name,
      CLUSTER: inventory.name,
      KUBELET_SERVER: host.role === 'control-plane' ? apiServerUrl(inventory, host) : `https://${inventory.endpoint}`,
      RESTARTED: restartedBy(inventory, renewed),
    }),
  );

/** The certificates among these that a port serves, as `FILE ADDRESS:PORT`. */
function served(
  inventory: Inventory,
  { internalAddress }: LinuxHost,
  names: readonly RenewedName[],
): readonly string[] {
  const ports = {
    apiserver: `apiserver.crt ${hostPort(internalAddress, apiPort(inventory))}`,
    'etcd-server': `etcd/server.crt ${hostPort(internalAddress, 2379)}`,
    'etcd-peer': `etcd/peer.crt ${hostPort(internalAddress, 2380)}`,
  } as const;
  return names.flatMap((name) => (name in ports ? [ports[name as keyof typeof ports]] : []));
}

/**
 * The job that renews certificates of a joined control plane with kubeadm, and returns when its ports serve the new
 * ones. config.yaml, a ClusterConfiguration, lies in its folder: without it kubeadm would use its defaults while the
 * API does not answer. Subject and names stay as they were, or follow the configuration.
 */
export const renewCertificates = (
  inventory: Inventory,
  host: LinuxHost,
  names: readonly RenewedName[],
  how: 'as-it-was' | 'by-configuration' = 'as-it-was',
): Command<'sh'> =>
  withRuntime(
    inventory,
    host,
    script('certificates/renew-certificates.sh', {
      RENEW: names,
      HOW: how,
      KEYS: [...new Set(names.map((name) => `${AUTHORITY_FILES[authorityOf(name)]}.key`))],
      WORK: `${paths.run}/renewal`,
      RESTARTED: restartedBy(inventory, names),
      SERVED: served(inventory, host, names),
    }),
  );
