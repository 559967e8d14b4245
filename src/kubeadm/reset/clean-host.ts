import { distributionOf } from '../../components/distributions/index.ts';
import { networkPlugin } from '../../components/network-plugins/index.ts';
import { containerRuntime } from '../../components/runtimes/index.ts';
import type { Step, Unobserved } from '../../engine/step.ts';
import type { LinuxFacts } from '../../facts/linux.ts';
import { HOSTS_BEGIN, HOSTS_END } from '../../facts/linux/names.ts';
import { KUBE_CHAINS } from '../../facts/linux/network.ts';
import type { Inventory } from '../../model/inventory.ts';
import { overlap } from '../../topology/subnets.ts';
import { paths } from '../../paths.ts';
import { runs } from '../../resources/runs.ts';
import { script, using } from '../../templates.ts';

const some = (all: readonly string[]): string =>
  `${all.slice(0, 3).join(', ')}${all.length > 3 ? `, ${String(all.length - 3)} more` : ''}`;

/** Routes to nowhere inside podSubnet: they would swallow packets of the next network. */
const deadRoutes = ({ network: { podSubnet } }: Inventory, { routes }: LinuxFacts): readonly string[] =>
  routes.table.flatMap(({ device, destination }) =>
    device === '' && destination !== 'default' && overlap(podSubnet, cidrOf(destination)) ? [destination] : [],
  );

const cidrOf = (destination: string): string => (destination.includes('/') ? destination : `${destination}/32`);

/** The interfaces, routes, CNI configuration and state of the network plugin are gone. kbuild keeps those of a plugin that the user installed. */
export const noCniRemains: Step = {
  name: 'no-cni-remains',
  diff: ({ inventory, host, facts }) => {
    const leaves = networkPlugin(inventory).leaves(inventory);
    const files = facts.leftovers.filter((one) => !one.startsWith('mount '));
    const interfaces = facts.interfaces.map(({ name }) => name).filter((name) => leaves.interfaces.test(name));
    const routes = leaves.blackholes ? deadRoutes(inventory, facts) : [];
    const found = [...interfaces, ...routes.map((route) => `blackhole ${route}`), ...files];
    if (found.length === 0) return [];
    return [
      {
        summary: `remove what the network plugin left (found ${some(found)})`,
        apply: runs(
          host,
          using(
            'linux/mounts.sh',
            script('linux/clean-cni.sh', { INTERFACES: interfaces, ROUTES: routes, FILES: files }),
          ),
        ),
      },
    ];
  },
};

/** No chain of kube-proxy, the kubelet or a CNI plugin is left in the packet filter; others' rules are not touched. */
export const noKubeChains: Step = {
  name: 'no-kube-chains',
  diff: ({ host, facts }) => {
    const ipvs = facts.interfaces.filter(({ name }) => name === 'kube-ipvs0').map(({ name }) => name);
    const found = [...facts.kubeChains, ...ipvs];
    if (found.length === 0) return [];
    return [
      {
        summary: `remove Kubernetes' chains from the packet filter (found ${some(found)})`,
        apply: runs(host, script('linux/clean-packet-filter.sh', { CHAINS: KUBE_CHAINS })),
      },
    ];
  },
};

/** The files that kbuild wrote are gone, and what it had put aside is back. */
export const noOwnFiles: Step = {
  name: 'no-own-files',
  diff: ({ inventory, host, facts }) => {
    const runtime = containerRuntime(inventory);
    const runtimeBackup = runtime.paths.backup ?? '';
    const found = [...facts.distributedFiles, ...facts.ownFiles];
    if (found.length === 0) return [];
    const backups = [paths.haproxyConfigBackup, paths.keepalivedConfigBackup];
    const restored = [runtimeBackup, paths.fstabBackup, ...backups].filter((path) => found.includes(path));
    return [
      {
        summary: `take back what kbuild wrote (found ${some(found)})${restored.length === 0 ? '' : `, restoring from ${restored.join(', ')}`}`,
        apply: runs(
          host,
          using(
            'linux/mounts.sh',
            script('linux/take-back-files.sh', {
              FILES: facts.ownFiles,
              RECORD: paths.distributed,
              KEPT: paths.replaced,
              RUNTIME: runtime.unit,
              RUNTIME_CONFIG: runtime.paths.config,
              RUNTIME_BACKUP: runtimeBackup,
              FSTAB_BACKUP: paths.fstabBackup,
              BACKUPS: backups,
              REGISTRIES: runtime.registriesFolder.use === 'whole' ? runtime.registriesFolder.path : '',
            }),
          ),
        ),
      },
    ];
  },
};

/** kbuild's lines of /etc/hosts are gone. */
export const noHostsBlock: Step = {
  name: 'no-hosts-block',
  diff: ({ host, facts }) =>
    facts.hostsBlock === 'absent'
      ? []
      : [
          {
            summary: `take kbuild's lines out of /etc/hosts (found ${facts.hostsBlock})`,
            apply: runs(host, script('linux/write-hosts-block.sh', { BEGIN: HOSTS_BEGIN, END: HOSTS_END, BLOCK: '' })),
          },
        ],
};

const heldPackages = ({ inventory }: Unobserved): readonly string[] => [
  'kubelet',
  'kubeadm',
  'kubectl',
  'kubernetes-cni',
  'cri-tools',
  inventory.runtime.package,
];

/** The packages stay, but nothing holds them at their version any more. */
export const packagesReleased: Step = {
  name: 'packages-released',
  watches: (about) => ({ packages: heldPackages(about) }),
  diff: (target) => {
    const { host, facts } = target;
    const held = heldPackages(target).filter((name) => facts.packages.get(name)?.held === true);
    if (held.length === 0) return [];
    return [
      {
        summary: `let the system upgrade ${held.join(', ')} again (found held)`,
        apply: runs(host, distributionOf(host, facts).packages.release(held)),
      },
    ];
  },
};
