import { windowsPlugins, windowsServices } from '../network/plugins.value.ts';
import { windowsPaths as paths } from '../paths.ts';

/**
 * One section of a Windows host's failure report or support bundle. `file`: the end of a file. `newest`: the end of the
 * newest files in a folder whose paths match. `events`: an event log. `list`: the files of a folder. `services`:
 * services with the comma-separated names in `name`. `hns`: networks, endpoints and policies. `run`: the output of a
 * program.
 */
export type Section = {
  readonly title: string;
  /** Maximum number of lines or events. */
  readonly lines: number;
} & (
  | { readonly kind: 'file' | 'events' | 'list' | 'services' | 'hns'; readonly name: string }
  | { readonly kind: 'newest'; readonly name: string; readonly match: string }
  | { readonly kind: 'run'; readonly name: string; readonly arguments: readonly string[] }
);

const SERVICES = ['containerd', 'kubelet', 'kube-proxy', ...windowsServices, 'hns', 'vmcompute', 'sshd', 'docker'].join(
  ',',
);

const newest = (title: string, name: string, lines: number, match = '*'): Section => ({
  title,
  kind: 'newest',
  name,
  match,
  lines,
});

/** The kubelet's folder of container logs, with one folder for each pod: NAMESPACE_POD_UID. */
const POD_LOGS = 'C:\\var\\log\\pods';

/** Logs of network plugins that are services. */
const pluginLogs = (lines: number): readonly Section[] =>
  windowsPlugins.flatMap(({ logs }) => Object.entries(logs).map(([service, folder]) => newest(service, folder, lines)));

/** Logs of network plugins that are pods. */
const pluginPods = (lines: number): readonly Section[] =>
  windowsPlugins.map(({ title, namespaces }) => newest(`pods of ${title}`, POD_LOGS, lines, `*\\${namespaces[0]!}_*`));

/** Sections of a failure report: the last lines that the programs of a node logged. */
export const lastWordsOfWindows: readonly Section[] = [
  newest('kubelet', paths.kubeletLog, 20),
  ...pluginLogs(20),
  newest('kube-proxy', paths.kubeProxyLog, 20),
  ...pluginPods(20),
  { title: 'services', kind: 'services', name: SERVICES, lines: 20 },
  { title: 'containerd', kind: 'events', name: 'Application:containerd', lines: 20 },
];

/** Sections of the support bundle. */
export const supportOfWindows: readonly Section[] = [
  { title: 'services', kind: 'services', name: SERVICES, lines: 100 },
  newest('kubelet', paths.kubeletLog, 5000),
  ...pluginLogs(5000),
  newest('kube-proxy', paths.kubeProxyLog, 5000),
  ...pluginPods(1000),
  newest('pods of kube-proxy', POD_LOGS, 1000, '*\\kube-system_kube-proxy-*'),
  { title: 'containerd', kind: 'events', name: 'Application:containerd', lines: 1000 },
  { title: paths.containerdConfig, kind: 'file', name: paths.containerdConfig, lines: 1000 },
  { title: paths.kubeletConfig, kind: 'file', name: paths.kubeletConfig, lines: 1000 },
  { title: paths.kubeletFlags, kind: 'file', name: paths.kubeletFlags, lines: 100 },
  { title: paths.programs, kind: 'list', name: paths.programs, lines: 200 },
  { title: paths.cniBin, kind: 'list', name: paths.cniBin, lines: 200 },
  newest(paths.cniConfig, paths.cniConfig, 500),
  ...windowsPlugins.flatMap(({ ofNode }) => ofNode.map((folder) => newest(folder, folder, 100))),
  newest(paths.sourceVip, paths.sourceVip, 100),
  { title: 'HNS', kind: 'hns', name: '', lines: 5000 },
  { title: 'ipconfig', kind: 'run', name: 'ipconfig.exe', arguments: ['/all'], lines: 500 },
  { title: 'route print', kind: 'run', name: 'route.exe', arguments: ['print'], lines: 500 },
  { title: 'events: System', kind: 'events', name: 'System', lines: 500 },
  { title: 'events: Application', kind: 'events', name: 'Application', lines: 500 },
  { title: 'events: HNS', kind: 'events', name: 'Microsoft-Windows-Host-Network-Service-Admin', lines: 500 },
  { title: 'events: Hyper-V', kind: 'events', name: 'Microsoft-Windows-Hyper-V-Compute-Operational', lines: 500 },
];
