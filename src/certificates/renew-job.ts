import { apiPort } from '../inventory/api-server.ts';
import type { Inventory, LinuxHost } from '../inventory/inventory.ts';
import { paths } from '../paths.ts';
import { withRuntime } from '../runtime/runtimes.value.ts';
import type { Command } from '../shell/command.ts';
import { script } from '../templates.ts';
import { AUTHORITY_FILES } from './authorities.facts.ts';
import { authorityOf, type RenewedName } from './kubeadm-names.ts';
import { restartedBy } from './leaves.ts';

/** The certificates among these that a port serves, as `FILE ADDRESS:PORT`. */
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
