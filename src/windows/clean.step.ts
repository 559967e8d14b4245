import { runsOnWindows } from '../engine/combinators.ts';
import type { Step } from '../engine/step.ts';
import { windowsPlugins, windowsServices } from '../network/plugins.value.ts';
import { windowsPaths } from '../paths.ts';
import { secretYaml } from '../shell/yaml.ts';
import { powershell } from '../templates.ts';
import { noEnvironment } from './environment.step.ts';
import { windowsKubeadmJob, windowsResetConfiguration } from './kubeadm.ts';
import { noFirewallRules } from './machine.step.ts';
import { noMetadataRoute } from './network/hns.step.ts';

/** Runs `kubeadm reset` if files of kubeadm or the kubelet exist on the host. */
export const windowsKubeadmReset: Step<'windows'> = {
  name: 'kubeadm-reset',
  diff: ({ inventory, host, facts }) => {
    const found = [...facts.kubernetesTraces];
    if (found.length === 0) return [];
    const more = found.length > 2 ? `, ${String(found.length - 2)} more` : '';
    return [
      {
        summary: `kubeadm reset on ${host.name} (found ${found.slice(0, 2).join(', ')}${more})`,
        apply: (on) =>
          windowsKubeadmJob(on(host), inventory, 'reset', secretYaml([windowsResetConfiguration(inventory)])),
      },
    ];
  },
};

/**
 * Services that kbuild registers. Windows refuses to stop a service before its dependents, so dependents come first.
 */
const SERVICES = ['kube-proxy', ...windowsServices, 'kubelet', 'containerd'];

const noServices: Step<'windows'> = {
  name: 'no-services',
  watches: { units: SERVICES },
  settleMs: 60_000,
  diff: ({ host, facts }) => {
    const found = SERVICES.filter((name) => facts.services.has(name));
    if (found.length === 0) return [];
    const stays = found.includes('containerd')
      ? `; images stay in ${windowsPaths.containerdData}, and so do Windows features`
      : '';
    return [
      {
        summary: `remove the services ${found.join(', ')}${stays}`,
        apply: runsOnWindows(host, powershell('windows/remove-services.ps1', { Names: found })),
      },
    ];
  },
};

/**
 * True for an HNS network of a network plugin. The plugin's first network creates `External`, which keeps the vSwitch.
 */
const isOwnNetwork = (name: string): boolean =>
  name === 'External' || windowsPlugins.some(({ hnsNetworks }) => hnsNetworks.test(name));

const noHnsNetworks: Step<'windows'> = {
  name: 'no-hns-networks',
  settleMs: 2 * 60_000,
  diff: ({ host, facts }) => {
    const found = facts.hns.networks.map(({ name }) => name).filter(isOwnNetwork);
    if (found.length === 0) return [];
    return [
      {
        summary: `remove the HNS networks ${found.join(', ')}; the host's connection drops for seconds`,
        apply: async (on) => {
          await on(host).job('hns-networks', powershell('windows/remove-hns-networks.ps1', { Names: found }));
        },
      },
    ];
  },
};

/**
 * Folders that kbuild or a network plugin created. containerd's data stays because only containerd can delete its
 * layers. Of kbuild's own folder only the marker is removed: the folder also holds the lock of this run.
 */
const FOLDERS: readonly string[] = [
  windowsPaths.programs,
  windowsPaths.containerd,
  // Leftovers of a run that was killed; those of other programs lie in folders that are removed as a whole.
  ...['.download', '.upload', '.unpacked', '.old'].map((left) => `${windowsPaths.containerd}${left}`),
  windowsPaths.kubernetes,
  windowsPaths.kubelet,
  windowsPaths.kubeletLog,
  windowsPaths.cniBin,
  windowsPaths.cniConfig,
  windowsPaths.cniState,
  windowsPaths.kubeProxyState,
  windowsPaths.kubeProxyPod,
  windowsPaths.kubeProxyLog,
  ...windowsPlugins.flatMap(({ folders }) => folders),
  windowsPaths.sourceVip,
  windowsPaths.marker,
];

const noFolders: Step<'windows'> = {
  name: 'no-folders',
  watches: { files: FOLDERS },
  diff: ({ host, facts }) => {
    const found = FOLDERS.filter((path) => facts.files.at(path) !== undefined);
    if (found.length === 0) return [];
    const more = found.length > 3 ? `, ${String(found.length - 3)} more` : '';
    return [
      {
        summary: `remove ${found.slice(0, 3).join(', ')}${more}`,
        apply: runsOnWindows(host, powershell('windows/remove-paths.ps1', { Paths: found })),
      },
    ];
  },
};

const noTasks: Step<'windows'> = {
  name: 'no-tasks',
  diff: ({ host, facts }) => {
    const found = facts.leftTasks;
    if (found.length === 0) return [];
    return [
      {
        summary: `remove the scheduled tasks ${found.join(', ')}`,
        apply: runsOnWindows(host, powershell('windows/remove-tasks.ps1', { Names: found })),
      },
    ];
  },
};

/** After `kubeadm reset`: removes everything else that kbuild installed. Windows features and container images stay. */
export const windowsClean: readonly Step<'windows'>[] = [
  noServices,
  noHnsNetworks,
  noMetadataRoute,
  noFolders,
  noFirewallRules,
  noTasks,
  noEnvironment,
];
