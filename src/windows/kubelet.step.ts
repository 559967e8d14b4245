import { hasKubelet } from '../cluster/fleet/joined.ts';
import { standing } from '../cluster/standing.ts';
import { waitForApi } from '../engine/combinators.ts';
import { ABOUT_MS } from '../engine/restarts.ts';
import type { Step, Target } from '../engine/step.ts';
import { windowsTaints } from '../inventory/hosts.ts';
import type { Argument } from '../inventory/inventory.ts';
import { holds, mergedArguments } from '../inventory/merge.ts';
import { KUBEADMS_OWN_FLAGS } from '../kubeadm/kubelet-config.ts';
import { editedParts } from '../kubeadm/settings.ts';
import { windowsPaths } from '../paths.ts';
import { powershell } from '../templates.ts';
import { proxyEnvironment } from './environment.step.ts';
import { windowsKubeletArguments, windowsOwnKubeletConfig } from './kubeadm.ts';
import {
  NSSM,
  nssmParameters,
  type WantedWindowsService,
  windowsService,
  windowsServiceChanges,
} from './service.step.ts';

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

/**
 * Flags of every kubelet on Windows. They override kubeadm's configuration, which all nodes share and which is for
 * Linux. Paths have a drive: without one the kubelet writes `\\var\\lib\\...` into kubelet.conf, which client-go takes
 * at its next start for a path below the folder of that file (Go's filepath.IsAbs; kubeadm's kubelet_windows.go).
 */
const FLAGS: readonly Argument[] = [
  { name: 'cert-dir', value: 'C:/var/lib/kubelet/pki' },
  { name: 'config', value: 'C:/var/lib/kubelet/config.yaml' },
  { name: 'bootstrap-kubeconfig', value: 'C:/etc/kubernetes/bootstrap-kubelet.conf' },
  { name: 'kubeconfig', value: 'C:/etc/kubernetes/kubelet.conf' },
  { name: 'cgroups-per-qos', value: 'false' },
  { name: 'enforce-node-allocatable', value: '' },
  { name: 'resolv-conf', value: '' },
  { name: 'enable-debugging-handlers', value: 'true' },
  { name: 'windows-priorityclass', value: 'ABOVE_NORMAL_PRIORITY_CLASS' },
];

const argument = (flag: string): Argument => {
  const at = flag.indexOf('=');
  const name = (at === -1 ? flag : flag.slice(0, at)).replace(/^-+/, '');
  return { name, value: at === -1 ? 'true' : flag.slice(at + 1) };
};

/**
 * The taints in the form that kubeadm writes. A native service does not read kubeadm's flags file, and the kubelet
 * applies this flag only when it registers the node.
 */
const taints = (host: Target<'windows'>['host']): readonly Argument[] => {
  const value = windowsTaints(host)
    .map(({ key, value, effect }) => `${key}=${value ?? ''}:${effect}`)
    .join(',');
  return value === '' ? [] : [{ name: 'register-with-taints', value }];
};

/** All flags of the kubelet. Later sources win: Windows' own, those that kubeadm wrote, those of the inventory. */
function flags({ host }: Target<'windows'>, kubeletFlags: readonly string[] | 'absent'): readonly string[] {
  const written =
    kubeletFlags === 'absent' ? [] : kubeletFlags.filter((flag) => KUBEADMS_OWN_FLAGS.test(flag)).map(argument);
  const defaults = mergedArguments([...FLAGS, ...taints(host)], written);
  return mergedArguments(defaults, windowsKubeletArguments(host)).map(({ name, value }) => `--${name}=${value}`);
}

const LOG = `${windowsPaths.kubeletLog}\\kubelet.log`;
const KUBELET = `${windowsPaths.programs}\\kubelet.exe`;

/**
 * Command line without nssm: the service manager of Windows starts kube-log-runner, which writes and rotates the log.
 */
const nativeCommandLine = (all: readonly string[]): string =>
  [
    `${windowsPaths.programs}\\kube-log-runner.exe --log-file=${LOG} --log-file-size=10M --log-file-age=168h`,
    `${KUBELET} --windows-service`,
    ...all,
  ].join(' ');

/** The kubelet's service. `kubeletFlags`: those in kubeadm's file. */
export const kubeletServiceOf = (
  target: Target<'windows'>,
  kubeletFlags = target.facts.kubeletFlags,
): WantedWindowsService => {
  const all = flags(target, kubeletFlags);
  const isNative = target.host.windows.serviceManager === 'native';
  return {
    name: 'kubelet',
    displayName: 'kubelet',
    path: isNative ? nativeCommandLine(all) : NSSM,
    dependsOn: ['containerd'],
    environment: proxyEnvironment(target.inventory),
    parameters: isNative ? [] : nssmParameters(KUBELET, all, LOG),
    wanted: hasKubelet(target.facts) ? 'running' : 'registered',
    // kubeadm's configuration that is newer than the process: a run was cut off before it restarted the kubelet.
    uses: [windowsPaths.kubeletConfig],
  };
};

const watches = { units: ['kubelet'], files: [windowsPaths.kubeletConfig] };

/** Before the join: registers the service `kubelet`, the name that kubeadm expects. `kubeadm join` starts it. */
export const kubeletService: Step<'windows'> = {
  ...windowsService('kubelet-service', watches, (target) => kubeletServiceOf(target)),
  diff: (target) => (hasKubelet(target.facts) ? [] : windowsServiceChanges(target, kubeletServiceOf(target))),
};

/** After the join: keeps the kubelet running, with the flags that kubeadm wrote. */
export const kubeletRuns: Step<'windows'> = {
  ...windowsService('kubelet-runs', watches, (target) => kubeletServiceOf(target)),
  diff: (target) => (hasKubelet(target.facts) ? windowsServiceChanges(target, kubeletServiceOf(target)) : []),
};
