import { KUBEADMS_OWN_FLAGS } from '../configuration/kubelet-config.ts';
import { windowsKubeletArguments, windowsTaints } from '../configuration/windows-kubeadm.ts';
import type { Step, Target } from '../engine/step.ts';
import { hasKubelet } from '../facts/joined.ts';
import type { Argument } from '../model/inventory.ts';
import { mergedArguments } from '../model/merge.ts';
import { windowsPaths } from '../paths.ts';
import { windowsService, windowsServiceChanges, type WantedWindowsService } from '../resources/windows-service.ts';
import { proxyEnvironment } from './environment.ts';
import { NSSM, nssmParameters } from './nssm.ts';

/** What every kubelet on Windows must be told by flags: kubeadm's configuration is one for all nodes, and made for Linux. */
const FLAGS: readonly Argument[] = [
  { name: 'cert-dir', value: '/var/lib/kubelet/pki' },
  { name: 'config', value: '/var/lib/kubelet/config.yaml' },
  { name: 'bootstrap-kubeconfig', value: '/etc/kubernetes/bootstrap-kubelet.conf' },
  { name: 'kubeconfig', value: '/etc/kubernetes/kubelet.conf' },
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
 * The taints, as kubeadm writes them for the kubelet: a native service never reads kubeadm's flags file, and once the node
 * is registered without them it is too late.
 */
const taints = (host: Target<'windows'>['host']): readonly Argument[] => {
  const value = windowsTaints(host)
    .map((one) => `${one.key}=${one.value ?? ''}:${one.effect}`)
    .join(',');
  return value === '' ? [] : [{ name: 'register-with-taints', value }];
};

/** All flags of the kubelet: Windows' own, those that kubeadm noted by itself, and the host's. */
function flags({ host, facts }: Target<'windows'>): readonly string[] {
  const noted =
    facts.kubeletFlags === 'absent'
      ? []
      : facts.kubeletFlags.filter((flag) => KUBEADMS_OWN_FLAGS.test(flag)).map(argument);
  const kubeadms = mergedArguments([...FLAGS, ...taints(host)], noted);
  return mergedArguments(kubeadms, windowsKubeletArguments(host)).map(({ name, value }) => `--${name}=${value}`);
}

const LOG = `${windowsPaths.kubeletLog}\\kubelet.log`;
const KUBELET = `${windowsPaths.programs}\\kubelet.exe`;

/** kube-log-runner writes and rotates the log; Windows' service manager starts it. */
const native = (all: readonly string[]): string =>
  [
    `${windowsPaths.programs}\\kube-log-runner.exe --log-file=${LOG} --log-file-size=10M --log-file-age=168h`,
    `${KUBELET} --windows-service`,
    ...all,
  ].join(' ');

const wanted = (target: Target<'windows'>): WantedWindowsService => {
  const all = flags(target);
  const isNative = target.host.windows.serviceManager === 'native';
  return {
    name: 'kubelet',
    displayName: 'kubelet',
    path: isNative ? native(all) : NSSM,
    dependsOn: ['containerd'],
    environment: proxyEnvironment(target.inventory),
    parameters: isNative ? [] : nssmParameters(KUBELET, all, LOG),
    wanted: hasKubelet(target.facts) ? 'running' : 'registered',
    uses: [],
  };
};

/** The kubelet as a service of the name that kubeadm knows, before the host has joined; kubeadm's join starts it. */
export const kubeletService: Step<'windows'> = {
  ...windowsService('kubelet-service', { units: ['kubelet'] }, wanted),
  diff: (target) => (hasKubelet(target.facts) ? [] : windowsServiceChanges(target, wanted(target))),
};

/** The kubelet of a host that has joined runs, with the flags that kubeadm noted there. */
export const kubeletRuns: Step<'windows'> = {
  ...windowsService('kubelet-runs', { units: ['kubelet'] }, wanted),
  diff: (target) => (hasKubelet(target.facts) ? windowsServiceChanges(target, wanted(target)) : []),
};
