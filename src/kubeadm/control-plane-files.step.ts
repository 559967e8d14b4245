import type { ClusterUp } from '../cluster/fleet/view.ts';
import { standing } from '../cluster/standing.ts';
import { runs, waitForApi } from '../engine/combinators.ts';
import { ABOUT_MS } from '../engine/restarts.ts';
import type { Change, Step, Target, Unobserved } from '../engine/step.ts';
import { fileChanges, fileState } from '../host/file.step.ts';
import { paths } from '../paths.ts';
import { runtimeMove } from '../runtime/runtime-change.ts';
import { withRuntime } from '../runtime/runtimes.value.ts';
import { sha256Of } from '../shell/secret.ts';
import { sh } from '../shell/sh.ts';
import { withoutEnd } from '../shell/text.ts';
import { script } from '../templates.ts';
import { hostPatches } from './kubelet-config.ts';

/** Components of the control plane: their key in kubeadm's configuration, their pod, and what operators call them. */
export const COMPONENTS = [
  { key: 'apiServer', pod: 'kube-apiserver', what: 'API server', aboutMs: ABOUT_MS.apiServer },
  { key: 'controllerManager', pod: 'kube-controller-manager', what: 'controller manager', aboutMs: ABOUT_MS.staticPod },
  { key: 'scheduler', pod: 'kube-scheduler', what: 'scheduler', aboutMs: ABOUT_MS.staticPod },
] as const;

type Component = (typeof COMPONENTS)[number];

/**
 * Folders and files of the host that a component can read: the folder that kubeadm mounts, and the inventory's
 * `extraVolumes`.
 */
function mountsOf({ inventory }: Unobserved, { key }: Component): readonly string[] {
  const settings = inventory.kubeadm.cluster[key] as
    { readonly extraVolumes?: readonly { readonly hostPath?: string }[] } | undefined;
  const volumes = (settings?.extraVolumes ?? []).flatMap(({ hostPath }) => (hostPath === undefined ? [] : [hostPath]));
  return [...(key === 'apiServer' ? ['/etc/kubernetes/pki'] : []), ...volumes].map((path) => withoutEnd(path, '/'));
}

/** The files that the inventory distributes to this host and the component reads. */
function filesOf(about: Unobserved, component: Component) {
  const mounts = mountsOf(about, component);
  return about.inventory.files.filter(
    ({ hosts, path }) =>
      hosts.includes(about.host.name) && mounts.some((mount) => path === mount || path.startsWith(`${mount}/`)),
  );
}

/**
 * The reason why a running component must restart, if it is older than a file that it reads; undefined otherwise. The
 * API reports whole seconds.
 */
function outdated(target: Target, component: Component, startedMs: number): string | undefined {
  const read = filesOf(target, component);
  const changing = read.find((file) => fileChanges(target, file).length > 0);
  if (changing !== undefined) return `${changing.path} changes`;
  const newer = read.find(({ path }) => {
    const state = fileState(target, path);
    return state.kind === 'file' && Math.floor(state.mtimeMs / 1000) * 1000 > startedMs;
  });
  return newer === undefined ? undefined : `${newer.path} is newer`;
}

function restartOf(target: Target, component: Component, { pods }: ClusterUp): readonly Change[] {
  const { host } = target;
  const { pod: name, what, aboutMs } = component;
  const pod = pods.find(({ labels, node }) => labels['component'] === name && node === host.name);
  // A component that does not run reads its files when it starts.
  if (pod === undefined || pod.startedMs === 0) return [];
  const why = outdated(target, component, pod.startedMs);
  if (why === undefined) return [];
  return [
    {
      summary: `restart the ${what} of ${host.name} (${why})`,
      disrupts: true,
      restarts: [{ what, hosts: [host.name], aboutMs }],
      apply: runs(
        host,
        withRuntime(target.inventory, host, script('kubeadm/restart-component.sh', { COMPONENT: name })),
      ),
    },
  ];
}

/**
 * Restarts the pods of a joined control plane that are older than a file which they read and the inventory distributes,
 * e.g. an audit policy or an encryption configuration. The pods do not notice a replaced file by themselves.
 */
export const controlPlaneFiles: Step = {
  name: 'control-plane-files',
  // A kubelet waits up to 300 s before it restarts a container that has ended often.
  settleMs: 7 * 60_000,
  watches: (about) => ({ files: COMPONENTS.flatMap((component) => filesOf(about, component)).map(({ path }) => path) }),
  diff: (target) => {
    const { cluster } = target.fleet;
    if (target.host.role !== 'control-plane' || target.inventory.files.length === 0) return [];
    if (standing(target) !== 'joined' || cluster.state === 'absent') return [];
    if (cluster.state === 'down') return [waitForApi(cluster)];
    return COMPONENTS.flatMap((component) => restartOf(target, component, cluster));
  },
};

/**
 * Writes the inventory's patches and the host's kubelet settings to kubeadm's patches folder. Removes other files
 * there.
 */
export const kubeadmPatches: Step = {
  name: 'kubeadm-patches',
  watches: { trees: [paths.kubeadmPatches] },
  diff: ({ inventory, host, facts }) => {
    const patches = Object.entries(hostPatches(inventory, host, runtimeMove(inventory, host, facts)?.from));
    const wanted = new Map(patches.map(([name, content]) => [`${paths.kubeadmPatches}/${name}`, content]));
    const writes = [...wanted].flatMap(([path, content]): readonly Change[] => {
      const found = facts.files.get(path);
      if (found?.kind === 'file' && found.sha256 === sha256Of(content)) return [];
      return [
        {
          summary: `write ${path} (found ${(found?.kind ?? 'absent') === 'absent' ? 'none' : 'another content'})`,
          apply: (on) => on(host).write(path, content),
          preview: () => Promise.resolve(`${path}\n${content}`),
        },
      ];
    });
    const extra = [...facts.files.keys()].filter(
      (path) => path.startsWith(`${paths.kubeadmPatches}/`) && !wanted.has(path),
    );
    const removals = extra.map((path): Change => ({
      summary: `remove ${path} (not in the inventory)`,
      apply: runs(host, sh`rm -f -- ${path}`),
    }));
    return [...writes, ...removals];
  },
};
