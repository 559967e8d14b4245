import { holds } from '../configuration/compare.ts';
import { editedParts } from '../configuration/settings.ts';
import { standing } from '../cluster/standing.ts';
import { windowsOwnKubeletConfig } from '../configuration/windows-kubeadm.ts';
import { ABOUT_MS } from '../engine/restarts.ts';
import type { Step } from '../engine/step.ts';
import { windowsPaths } from '../paths.ts';
import { powershell } from '../templates.ts';
import { waitForApi } from '../resources/wait-for-api.ts';

/**
 * Updates the kubelet's configuration of a joined host if the cluster's settings or the host's own have changed. Does
 * not compare fields that kubeadm changes for Windows (paths with a drive, resolvConf).
 */
export const windowsKubeletSettings: Step<'windows'> = {
  name: 'kubelet-settings',
  settleMs: 60_000,
  diff: (target) => {
    const { inventory, host, facts, fleet } = target;
    const { cluster } = fleet;
    const live = facts.kubeletConfig;
    if (live === 'absent' || standing(target) !== 'joined' || cluster.state === 'absent') return [];
    if (cluster.state === 'down') return [waitForApi(cluster)];
    const edited = editedParts(inventory, cluster);
    const own = windowsOwnKubeletConfig(inventory, host);
    const found = [
      ...(edited !== 'unknown' && edited.includes('kubelet') ? ['settings that were edited'] : []),
      ...Object.keys(own)
        .filter((key) => !holds(own[key], live[key]))
        .map((key) => `another ${key}`),
    ];
    if (found.length === 0) return [];
    return [
      {
        summary: `configure and restart the kubelet of ${host.name} (found ${found.slice(0, 4).join(', ')})`,
        disrupts: true,
        restarts: [{ what: 'kubelet', hosts: [host.name], aboutMs: ABOUT_MS.kubelet }],
        apply: async (on) => {
          const command = powershell('windows/kubelet-settings.ps1', {
            Program: `${windowsPaths.programs}\\kubeadm.exe`,
            Patches: windowsPaths.kubeadmPatches,
          });
          await on(host).job('kubelet-settings', { ...command, title: 'configure the kubelet' });
        },
      },
    ];
  },
};
