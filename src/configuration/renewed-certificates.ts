import { withRuntime } from '../components/runtimes/index.ts';
import { apiPort } from '../topology/api-server.ts';
import type { Inventory, LinuxHost } from '../model/inventory.ts';
import { paths } from '../paths.ts';
import type { Command } from '../shell/command.ts';
import { script, using } from '../templates.ts';
import { restartedBy } from './signed-certificates.ts';

/** kubeadm's certificate authorities, as the facts of a host call them. */
export const KUBEADM_AUTHORITIES = ['ca', 'etcd-ca', 'front-proxy-ca'] as const;

/** What `kubeadm certs renew` renews, by its name there, and the authority that signs it (cmd/kubeadm/app/phases/certs/certlist.go). */
const SIGNED_BY = {
  apiserver: 'ca',
  'apiserver-kubelet-client': 'ca',
  'admin.conf': 'ca',
  'super-admin.conf': 'ca',
  'controller-manager.conf': 'ca',
  'scheduler.conf': 'ca',
  'front-proxy-client': 'front-proxy-ca',
  'apiserver-etcd-client': 'etcd-ca',
  'etcd-server': 'etcd-ca',
  'etcd-peer': 'etcd-ca',
  'etcd-healthcheck-client': 'etcd-ca',
} as const satisfies Readonly<Record<string, (typeof KUBEADM_AUTHORITIES)[number]>>;

/** A certificate that kubeadm can renew, as kubeadm calls it. */
export type RenewedName = keyof typeof SIGNED_BY;

/** All of them. */
export const RENEWED_NAMES = Object.keys(SIGNED_BY) as readonly RenewedName[];

/** Who signs a certificate. */
export const authorityOf = (name: RenewedName): (typeof KUBEADM_AUTHORITIES)[number] => SIGNED_BY[name];

const KEY_FILES = { ca: 'ca.key', 'etcd-ca': 'etcd/ca.key', 'front-proxy-ca': 'front-proxy-ca.key' } as const;

/** What of these certificates a port shows, as `FILE ADDRESS:PORT`. */
function served(
  inventory: Inventory,
  { internalAddress }: LinuxHost,
  names: readonly RenewedName[],
): readonly string[] {
  const ports = {
    apiserver: `apiserver.crt ${internalAddress}:${String(apiPort(inventory))}`,
    'etcd-server': `etcd/server.crt ${internalAddress}:2379`,
    'etcd-peer': `etcd/peer.crt ${internalAddress}:2380`,
  } as const;
  return names.flatMap((name) => (name in ports ? [ports[name as keyof typeof ports]] : []));
}

/**
 * The job that renews certificates of a joined control plane with kubeadm, and returns when its ports serve the new ones. config.yaml,
 * a ClusterConfiguration, lies in its folder: without one, kubeadm takes its defaults while the API does not answer. Subject and names
 * stay as they were, or become those of the configuration.
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
    using(
      'linux/await.sh',
      script('linux/renew-certificates.sh', {
        RENEW: names,
        HOW: how,
        KEYS: [...new Set(names.map((name) => KEY_FILES[authorityOf(name)]))],
        WORK: `${paths.run}/renewal`,
        RESTARTED: restartedBy(inventory, names),
        SERVED: served(inventory, host, names),
      }),
    ),
  );
