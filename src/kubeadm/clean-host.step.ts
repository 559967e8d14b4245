import type { LinuxFacts } from '../cluster/fleet/linux.ts';
import { runs } from '../engine/combinators.ts';
import type { Step, Unobserved } from '../engine/step.ts';
import { HOSTS_BEGIN, HOSTS_END } from '../host/names.facts.ts';
import { KUBE_CHAINS, KUBE_TABLES } from '../host/network.facts.ts';
import { removePrograms } from '../host/packages/binaries.value.ts';
import { distributionOf, systemRuntimePackages } from '../host/packages/distributions.value.ts';
import { systemRuntime } from '../host/packages/installer.value.ts';
import type { Inventory } from '../inventory/inventory.ts';
import { asCidr, eachOf, overlap, shareAddress } from '../inventory/addresses.ts';
import { NODE_LOCAL_INTERFACE } from '../network/node-local-dns.step.ts';
import { networkPlugin } from '../network/plugins.value.ts';
import { paths } from '../paths.ts';
import { containerRuntime } from '../runtime/runtimes.value.ts';
import { sh } from '../shell/sh.ts';
import { secretYaml } from '../shell/yaml.ts';
import { script } from '../templates.ts';
import { resetConfiguration } from './config.ts';
import { kubeadmJob } from './run-kubeadm.step.ts';

/** Prefix of a mount in the fact `leftovers`. */
const MOUNT = 'mount ';

const some = (all: readonly string[]): string =>
  `${all.slice(0, 3).join(', ')}${all.length > 3 ? `, ${String(all.length - 3)} more` : ''}`;

/** Runs kubeadm's reset: removes credentials, manifests, etcd's data, containers and mounts. */
export const kubeadmReset: Step = {
  name: 'kubeadm-reset',
  diff: ({ inventory, host, facts }) => {
    const mounts = facts.leftovers.filter((leftover) => leftover.startsWith(MOUNT));
    const found = [...facts.kubernetesTraces, ...mounts.map((mount) => mount.slice(MOUNT.length))];
    if (found.length === 0) return [];
    const more = found.length > 2 ? `, ${String(found.length - 2)} more` : '';
    return [
      {
        summary: `kubeadm reset on ${host.name} (found ${found.slice(0, 2).join(', ')}${more})`,
        apply: (on) => kubeadmJob(on(host), inventory, 'reset', secretYaml([resetConfiguration(inventory, host)])),
      },
    ];
  },
};

/** Blackhole routes inside podSubnet: they would drop packets of the next network. */
const blackholes = ({ network: { podSubnet } }: Inventory, { routes }: LinuxFacts): readonly string[] =>
  routes.table.flatMap(({ device, destination }) => {
    const isOurs = destination !== 'default' && eachOf(podSubnet).some((cidr) => overlap(cidr, asCidr(destination)));
    return device === '' && isOurs && destination !== '::/0' ? [destination] : [];
  });

/**
 * Removes interfaces, routes, CNI configuration and state of the network plugin, unless the user installed the plugin.
 */
export const noCniRemains: Step = {
  name: 'no-cni-remains',
  diff: ({ inventory, host, facts }) => {
    const leaves = networkPlugin(inventory).leaves(inventory);
    const files = facts.leftovers.filter((leftover) => !leftover.startsWith(MOUNT));
    const interfaces = facts.interfaces
      .map(({ name }) => name)
      .filter((name) => leaves.interfaces.test(name) || name === NODE_LOCAL_INTERFACE);
    const routes = leaves.blackholes ? blackholes(inventory, facts) : [];
    const found = [...interfaces, ...routes.map((route) => `blackhole ${route}`), ...files];
    const programs = leaves.programs === true ? '1' : '';
    if (found.length === 0) return [];
    return [
      {
        summary: `remove what the network plugin left (found ${some(found)})`,
        apply: runs(
          host,
          script('kubeadm/clean-cni.sh', { INTERFACES: interfaces, ROUTES: routes, FILES: files, PROGRAMS: programs }),
        ),
      },
    ];
  },
};

/** Takes addresses of Services off the host that a killed kube-vip left there: it would answer for them for ever. */
export const noServiceAddresses: Step = {
  name: 'no-service-addresses',
  diff: ({ inventory: { network }, host, facts }) => {
    const { loadBalancers } = network;
    if (loadBalancers?.kind !== 'kube-vip') return [];
    const all = Object.values(loadBalancers.pools).flat();
    return facts.interfaces.flatMap(({ name, addresses }) =>
      addresses
        .filter((address) => all.some((range) => shareAddress(range, address)))
        .map((address) => ({
          summary: `delete the address ${address} of a Service that kube-vip left (found on ${name})`,
          apply: runs(host, sh`ip address delete ${asCidr(address)} dev ${name}`),
        })),
    );
  },
};

/** Removes the chains of kube-proxy, the kubelet and CNI plugins from the packet filter. Keeps all other rules. */
export const noKubeChains: Step = {
  name: 'no-kube-chains',
  diff: ({ host, facts }) => {
    const ipvs = facts.interfaces.filter(({ name }) => name === 'kube-ipvs0').map(({ name }) => name);
    const found = [...facts.kubeChains, ...ipvs];
    if (found.length === 0) return [];
    return [
      {
        summary: `remove Kubernetes' chains from the packet filter (found ${some(found)})`,
        apply: runs(host, script('kubeadm/clean-packet-filter.sh', { CHAINS: KUBE_CHAINS, TABLES: KUBE_TABLES })),
      },
    ];
  },
};

/** True if the runtime runs a container that does not belong to Kubernetes. */
const servesOthers = ({ containers }: LinuxFacts, inventory: Inventory): boolean =>
  [...containers.keys()].some((namespace) => containerRuntime(inventory).ownerOf(namespace) !== undefined);

/**
 * Removes the programs that kbuild installed without packages; Keeps a runtime that runs containers of other programs.
 */
export const noPrograms: Step = {
  name: 'no-programs',
  diff: ({ inventory, host, facts }) => {
    const { package: runtime } = inventory.runtime;
    const isKept = (name: string): boolean => name === runtime && servesOthers(facts, inventory);
    const found = [...facts.binaries.keys()].filter((name) => !isKept(name));
    if (found.length === 0) return [];
    return [{ summary: `remove programs (found ${some(found)})`, apply: runs(host, removePrograms(inventory, found)) }];
  },
};

/** Removes the files that kbuild wrote, and restores the files that they replaced. */
export const noOwnFiles: Step = {
  name: 'no-own-files',
  diff: ({ inventory, host, facts }) => {
    const runtime = containerRuntime(inventory);
    const runtimeBackup = runtime.paths.backup ?? '';
    // A runtime that other programs use keeps its unit.
    const isKept = facts.binaries.has(inventory.runtime.package) && servesOthers(facts, inventory);
    const own = facts.ownFiles.filter((path) => !(isKept && path === runtime.published?.unit.path));
    const found = [...facts.distributedFiles, ...own];
    if (found.length === 0) return [];
    const backups = [paths.haproxyConfigBackup, paths.keepalivedConfigBackup];
    const restored = [runtimeBackup, paths.fstabBackup, ...backups].filter((path) => found.includes(path));
    return [
      {
        summary:
          'remove the files that kbuild wrote (found ' +
          `${some(found)})${restored.length === 0 ? '' : `, restoring from ${restored.join(', ')}`}`,
        apply: runs(
          host,
          script('kubeadm/take-back-files.sh', {
            FILES: own,
            RECORD: paths.distributed,
            KEPT: paths.replaced,
            // The settings of a shared runtime keep other programs' containers alive over a restart: without them a
            // restart would end these containers.
            RUNTIME: runtime.shared === undefined ? runtime.unit : '',
            RUNTIME_CONFIG: runtime.paths.config,
            RUNTIME_BACKUP: runtimeBackup,
            FSTAB_BACKUP: paths.fstabBackup,
            BACKUPS: backups,
            REGISTRIES: runtime.registriesFolder.path,
            REGISTRIES_USE: runtime.registriesFolder.use,
          }),
        ),
      },
    ];
  },
};

/** Removes kbuild's lines from /etc/hosts. */
export const noHostsBlock: Step = {
  name: 'no-hosts-block',
  diff: ({ host, facts }) =>
    facts.hostsBlock === 'absent'
      ? []
      : [
          {
            summary: `take kbuild's lines out of /etc/hosts (found ${facts.hostsBlock})`,
            apply: runs(host, script('host/write-hosts-block.sh', { BEGIN: HOSTS_BEGIN, END: HOSTS_END, BLOCK: '' })),
          },
        ],
};

const HELD = ['kubelet', 'kubeadm', 'kubectl', 'kubernetes-cni', 'cri-tools'];

const ofRuntime = (runtime: Inventory['runtime']): readonly string[] => [
  runtime.package,
  ...Object.keys(containerRuntime({ runtime }).companions?.(runtime.package, runtime.version) ?? {}),
];

const heldPackages = ({ inventory: { runtime } }: Unobserved): readonly string[] => [
  ...HELD,
  ...ofRuntime(runtime),
  ...systemRuntimePackages(runtime.name),
];

/** Unholds the packages. They stay installed. */
export const packagesReleased: Step = {
  name: 'packages-released',
  watches: (about) => ({ packages: heldPackages(about) }),
  diff: (target) => {
    const { host, facts } = target;
    const isHeld = (name: string): boolean => {
      const state = facts.packages.get(name);
      return state?.held === true && state.from === undefined;
    };
    const found = heldPackages(target).filter(isHeld);
    if (found.length === 0) return [];
    // Leaves packages alone that have the same names but that kbuild did not install on this system.
    const { runtime } = target.inventory;
    const names = systemRuntime(target, [runtime.name]) ?? ofRuntime(runtime);
    const held = [...HELD, ...names].filter(isHeld);
    if (held.length === 0) return [];
    return [
      {
        summary: `unhold ${held.join(', ')}`,
        apply: runs(host, distributionOf(host, facts).packages?.release(held) ?? sh`true`),
      },
    ];
  },
};
