/** The inventory of a demo whose hosts are containers: what a user would write for such hosts. Pure. */
import { roleOf, type LabInventory } from '../lab/inventory.ts';
import { KUBERNETES } from '../lab/versions.ts';

/** A container as a host: where SSH reaches it from this machine, and its address among the others. */
export interface ContainerHost {
  readonly name: string;
  /** On 127.0.0.1. */
  readonly sshPort: number;
  readonly internalAddress: string;
}

/** The files that an inventory names. */
export interface InventoryFiles {
  readonly identityFile: string;
  readonly knownHostsFile: string;
}

/** Where ports of containers are published: an address that also macOS and WSL reach. */
export const PUBLISHED_AT = '127.0.0.1';

/**
 * All hosts share the disk of the machine, of which other things may fill most: a kubelet must not evict pods, or remove
 * images, because less than Kubernetes' 10 or 15 % of it is free.
 */
const ON_A_SHARED_DISK = {
  evictionHard: {
    'memory.available': '50Mi',
    ...{ 'nodefs.available': '200Mi', 'nodefs.inodesFree': '1%' },
    ...{ 'imagefs.available': '200Mi', 'imagefs.inodesFree': '1%' },
  },
  imageGCHighThresholdPercent: 100,
  imageGCLowThresholdPercent: 99,
};

/** `settings` replace whole top-level keys, e.g. to name mirrors. Without them everything comes from the sites that publish it. */
export function containerInventory(
  hosts: readonly ContainerHost[],
  { identityFile, knownHostsFile }: InventoryFiles,
  settings: Readonly<Record<string, unknown>> = {},
): LabInventory {
  // kubeadm looks for the configuration of the kernel, which a container does not have, and refuses cgroup v1.
  const registration = { nodeRegistration: { ignorePreflightErrors: ['SystemVerification'] } };
  return {
    name: 'demo',
    kubernetes: { version: KUBERNETES[0].version },
    network: { plugin: 'flannel' },
    kubelet: {
      // Swap is the machine's: a host must not switch it off. cgroup v1: where the machine has it.
      config: { failSwapOn: false, failCgroupV1: false, ...ON_A_SHARED_DISK },
    },
    kubeadm: {
      init: registration,
      join: registration,
      // So that the API server can be reached at its published port.
      cluster: { apiServer: { certSANs: [PUBLISHED_AT] } },
      // These limits belong to the machine's first network namespace: no container can write them.
      kubeProxy: { conntrack: { maxPerCore: 0 } },
    },
    // The clock, the disk and the product UUID are the machine's.
    ignoreChecks: ['time-sync', 'disk-sync', 'product-uuid'],
    ssh: { user: 'root', identityFile, knownHostsFile, configFile: 'none' },
    ...settings,
    hosts: hosts.map(({ name, sshPort, internalAddress }) => ({
      ...{ name, address: PUBLISHED_AT, internalAddress, role: roleOf(name) },
      ssh: { port: sshPort },
    })),
  };
}
