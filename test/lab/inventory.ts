import { hostSettings } from './host-settings.ts';
import { ensureKeys } from './keys.ts';
import { PACKAGES_URL, REGISTRY_URL } from './network-plan.ts';
import { paths } from './paths.ts';
import { CRIO_PATH } from './recipes.ts';
import { loginOf } from './ssh.ts';
import { isUbuntu } from './systems.ts';
import { KUBERNETES, VERSIONS } from './versions.ts';
import { buildOnDemand } from './build-all.ts';

export type Role = 'control-plane' | 'worker' | 'etcd' | 'load-balancer';

/** One host of an inventory. */
export interface InventoryHost {
  readonly name: string;
  readonly address: string;
  readonly internalAddress?: string;
  readonly role: Role;
  readonly [key: string]: unknown;
}

/** An inventory as a user writes it; tests change it and write it as YAML. */
export interface LabInventory {
  readonly name: string;
  readonly hosts: readonly InventoryHost[];
  readonly [key: string]: unknown;
}

/** The role that a host's name says: cp1, w2, etcd1, lb1; with letters x, d … of a test's own before it. Others are workers. */
export function roleOf(name: string): Role {
  const [, prefix] = /(cp|etcd|lb|w)\d*$/.exec(name) ?? /^(cp|etcd|lb|w)/.exec(name) ?? [];
  const roles: Readonly<Record<string, Role>> = { cp: 'control-plane', etcd: 'etcd', lb: 'load-balancer' };
  return roles[prefix ?? ''] ?? 'worker';
}

/**
 * All hosts share the machine's disk, of which other things may fill most: a kubelet must not evict pods, or remove images,
 * because less than Kubernetes' 10 or 15 % of it is free. What hosts need is checked by `up` (requirements.ts).
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

/** `runtime:` of hosts with CRI-O, for an inventory, a group or a host; its packages are built first, which compiles it. It runs with the lab's Kubernetes of one minor. */
export async function crioRuntime(): Promise<Readonly<Record<string, unknown>>> {
  await buildOnDemand(CRIO_PATH);
  const url = `${PACKAGES_URL}/${CRIO_PATH}/deb`;
  const rpmUrl = `${PACKAGES_URL}/${CRIO_PATH}/rpm`;
  const { crio: fingerprint } = await ensureKeys();
  // Hosts have no CAP_SYS_RESOURCE, see `build/cri-o-repository/lab-crun`. A table of a runtime replaces that of the package.
  const crun = {
    runtime_path: '/usr/libexec/crio/lab-crun',
    runtime_root: '/run/crun',
    monitor_path: '/usr/libexec/crio/conmon',
  };
  return {
    name: 'crio',
    version: VERSIONS.crio,
    repository: {
      ...{ url, key: `${url}/Release.key`, fingerprint },
      rpm: { url: rpmUrl, key: `${rpmUrl}/repodata/repomd.xml.key`, fingerprint },
    },
    config: { crio: { runtime: { runtimes: { crun } } } },
  };
}

/** What an Ubuntu host has of its own: who logs in, and Docker's repository for its codename. */
function ofUbuntu(name: string): object {
  const { os } = hostSettings(name);
  if (!isUbuntu(os)) return {};
  const url = `${PACKAGES_URL}/${os}/docker/linux/{distribution}`;
  return {
    ssh: { user: loginOf(name) },
    runtime: { repository: { url, suite: '{codename}', key: `${PACKAGES_URL}/${os}/docker/linux/ubuntu/gpg` } },
  };
}

/** The inventory of these hosts. `overrides` replaces whole top-level keys. The hosts must exist. */
export async function inventory(
  names: readonly string[],
  overrides: Readonly<Record<string, unknown>> = {},
): Promise<LabInventory> {
  const keys = await ensureKeys();
  const registration = { nodeRegistration: { ignorePreflightErrors: ['SystemVerification'] } };
  return {
    name: 'lab',
    kubernetes: {
      version: KUBERNETES[0].version,
      repository: {
        url: `${PACKAGES_URL}/kubernetes/v{minor}/deb`,
        key: `${PACKAGES_URL}/kubernetes/v${KUBERNETES[0].minor}/deb/Release.key`,
        fingerprint: keys.kubernetes,
        rpm: {
          url: `${PACKAGES_URL}/kubernetes/v{minor}/rpm`,
          key: `${PACKAGES_URL}/kubernetes/v${KUBERNETES[0].minor}/rpm/repodata/repomd.xml.key`,
          fingerprint: keys.kubernetes,
        },
      },
    },
    runtime: {
      name: 'containerd',
      repository: {
        url: `${PACKAGES_URL}/containerd`,
        suite: 'bookworm',
        component: 'stable',
        key: `${PACKAGES_URL}/containerd/gpg`,
        fingerprint: keys.containerd,
        rpm: { url: `${PACKAGES_URL}/docker/linux/{distribution}`, fingerprint: keys['containerd-rpm'] },
      },
      version: VERSIONS.containerd,
      // Hosts have no CAP_SYS_RESOURCE: nothing there can make itself less likely to be killed than its parent.
      config: { plugins: { 'io.containerd.cri.v1.runtime': { restrict_oom_score_adj: true } } },
      registries: ['registry.k8s.io', 'ghcr.io'].map((host) => ({ host, mirrors: [REGISTRY_URL] })),
    },
    network: { plugin: 'flannel' },
    kubelet: {
      config: {
        // The lab's machine may have cgroup v1, which a kubelet since 1.35 refuses unless told.
        failCgroupV1: false,
        ...ON_A_SHARED_DISK,
      },
    },
    kubeadm: {
      init: registration,
      join: registration,
      // These limits belong to the machine's first network namespace: no host can write them.
      kubeProxy: { conntrack: { maxPerCore: 0 } },
    },
    // The clock is the machine's, which runs no time service in its hosts; all hosts share its disk.
    // The lab's containerd 2.2 gets no security updates any more.
    ignoreChecks: ['time-sync', 'disk-sync', 'end-of-life'],
    ssh: { user: 'root', identityFile: paths.identityFile, knownHostsFile: paths.knownHostsFile },
    hosts: names.map((name): InventoryHost => {
      const { address, internalAddress } = hostSettings(name);
      const nic = internalAddress === undefined ? {} : { internalAddress };
      return { name, address, ...nic, role: roleOf(name), ...ofUbuntu(name) };
    }),
    ...overrides,
  };
}
