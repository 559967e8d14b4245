import { hasKubelet } from '../cluster/fleet/joined.ts';
import { runs } from '../engine/combinators.ts';
import type { Change, Step, Target } from '../engine/step.ts';
import { fileChanges, type WantedFile } from '../host/file.step.ts';
import { hasKubeProxy } from '../inventory/network-plugins.ts';
import { serviceImages } from '../network/load-balancers.value.ts';
import { networkPlugin } from '../network/plugins.value.ts';
import { script } from '../templates.ts';
import { pendingMove } from './change.step.ts';
import { fullName, pauseImage } from './registries.value.ts';
import { containerRuntime, withWantedRuntime } from './runtimes.value.ts';

const CONTROL_PLANE = ['kube-apiserver', 'kube-controller-manager', 'kube-scheduler'] as const;

/**
 * The images that a host needs and whose tags kbuild knows. The tags of etcd and CoreDNS change with patch releases:
 * the job gets them from the installed kubeadm.
 */
export function roleImages({ inventory, host }: Pick<Target, 'inventory' | 'host'>): readonly string[] {
  const { kubernetes } = inventory;
  // A host of role etcd is no node.
  if (host.role === 'etcd') return [pauseImage(inventory)].map(fullName);
  const components = [
    ...(host.role === 'control-plane' ? CONTROL_PLANE : []),
    ...(hasKubeProxy(inventory) ? ['kube-proxy'] : []),
  ];
  return [
    ...components.map((name) => `${kubernetes.imageRepository}/${name}:v${kubernetes.version}`),
    pauseImage(inventory),
    ...networkPlugin(inventory).images(inventory),
    ...serviceImages(inventory),
  ].map(fullName);
}

/** Components of the host whose images the job gets from kubeadm. */
function namedByKubeadm({ inventory, host }: Target): readonly string[] {
  const holdsEtcd = host.role === (inventory.etcd.topology === 'stacked' ? 'control-plane' : 'etcd');
  return [...(holdsEtcd ? ['etcd'] : []), ...(host.role === 'control-plane' ? ['coredns'] : [])];
}

/**
 * The images without which a drained node does not work: of its static pods, which have its name, of kube-proxy and of
 * the network.
 */
const imagesOfNode = ({ inventory, fleet, host }: Target): readonly string[] => {
  const pods = fleet.cluster.state === 'up' ? fleet.cluster.pods.filter(({ node }) => node === host.name) : [];
  const needed = pods.filter(
    ({ name, labels }) => name.endsWith(`-${host.name}`) || labels['k8s-app'] === 'kube-proxy',
  );
  const all = [
    ...needed.flatMap(({ images }) => images),
    pauseImage(inventory),
    ...networkPlugin(inventory).images(inventory),
    ...serviceImages(inventory),
  ];
  return [...new Set(all.map(fullName))];
};

/**
 * Pulls images before kubeadm runs, and before a node changes to another runtime. On any other joined host the kubelet
 * pulls images and removes unused ones.
 */
export const images: Step = {
  name: 'images',
  diff: (target) => {
    const { host, facts, inventory } = target;
    const isMoving = pendingMove(target) !== undefined;
    if (hasKubelet(facts) && !isMoving) return [];
    const all = isMoving ? imagesOfNode(target) : roleImages(target);
    const missing = all.filter((image) => !facts.images.has(image));
    if (missing.length === 0) return [];
    const asked = isMoving ? [] : namedByKubeadm(target);
    return [
      {
        summary: `pull ${missing.join(', ')} (found ${missing.length === all.length ? 'none' : 'the others'})`,
        apply: async (on) => {
          const pull = script('runtime/pull-images.sh', {
            IMAGES: missing,
            VERSION: asked.length > 0 ? inventory.kubernetes.version : '',
            ASKED: asked,
            REPOSITORY: inventory.kubernetes.imageRepository,
            KUBEADM: 'kubeadm',
          });
          await on(host).job('images', withWantedRuntime(inventory, host, pull));
        },
      },
    ];
  },
};

/** Removes the files of kbuild in the folder of registries that no registry of the inventory has. */
function unwanted({ inventory, facts, host }: Target, wanted: readonly WantedFile[]): readonly Change[] {
  const { path: folder, use } = containerRuntime(inventory).registriesFolder;
  const kept = new Set(wanted.map(({ path }) => path));
  const own =
    use === 'shared' ? facts.ownFiles : [...facts.files].flatMap(([path, { kind }]) => (kind === 'file' ? [path] : []));
  return own
    .filter((path) => path.startsWith(`${folder}/`) && !kept.has(path))
    .map((path) => ({
      summary: `remove ${path} (no registry of the inventory has it)`,
      apply: runs(host, script('runtime/remove-from-folder.sh', { FILE: path, FOLDER: folder })),
    }));
}

/** How the runtime reaches registries: mirrors, private CAs, logins. It reads these files at every pull. */
export const registries: Step = {
  name: 'registries',
  watches: ({ inventory }) => {
    const { registryFiles, registriesFolder } = containerRuntime(inventory);
    return registriesFolder.use === 'shared'
      ? { files: registryFiles(inventory.runtime.registries).map(({ path }) => path) }
      : { trees: [registriesFolder.path] };
  },
  diff: (target) => {
    const { inventory } = target;
    const wanted = containerRuntime(inventory).registryFiles(inventory.runtime.registries);
    return [...wanted.flatMap((file) => fileChanges(target, file)), ...unwanted(target, wanted)];
  },
};

/** Proves that the runtime's effective configuration, with imports and defaults, has the inventory's settings. */
export const runtimeProved: Step = {
  name: 'runtime-proved',
  diff: ({ inventory, facts }) => {
    const found = facts.runtimeConfig;
    // Without the runtime, the steps before this one have pending changes.
    if (found === 'absent') return [];
    const { title, sandboxImage } = containerRuntime(inventory);
    if (found === 'invalid') return [{ summary: `have ${title} accept its configuration (found it refused)` }];
    const driver = inventory.runtime.cgroupDriver;
    const sandbox = sandboxImage(inventory);
    return [
      ...(found.criDisabled ? [{ summary: `have ${title} offer CRI (found the plugin disabled)` }] : []),
      ...(found.cgroupDriver === driver
        ? []
        : [{ summary: `have ${title} use the cgroup driver ${driver} (found ${found.cgroupDriver})` }]),
      ...(inventory.runtime.selinux && found.labels === false
        ? [{ summary: `have ${title} label containers for SELinux (found that switched off)` }]
        : []),
      ...(found.handlers === undefined ? [] : inventory.runtime.handlers)
        .filter(({ name }) => found.handlers?.includes(name) !== true)
        .map(({ name }) => ({ summary: `have ${title} know the handler ${name} (found none)` })),
      ...(found.sandboxImage === sandbox
        ? []
        : [{ summary: `have ${title} use the sandbox image ${sandbox} (found ${found.sandboxImage || 'none'})` }]),
    ];
  },
};
