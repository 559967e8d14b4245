import { pluginFile } from '../../../network/plugins.file.ts';
import { networkPluginNamed, networkPlugins } from '../../../network/plugins.value.ts';
import { problem, type Rule, type Violation, warning } from '../../schema/rule.ts';
import type { InventoryFile } from '../../schema/schema.ts';
import type { WindowsSettings } from '../../windows-settings.ts';
import { kubeletOf, levelsOf } from '../levels.ts';
import { windowsOf } from '../windows.ts';

/** NetBIOS cuts longer names of Windows machines off. */
const NAME = 15;

/** Kubernetes' documentation: a Windows node needs at least 2 GiB that pods do not get. */
const RESERVED_MIB = 2048;

const mebibytes = (quantity: string): number => Number.parseInt(quantity, 10) * (quantity.endsWith('Gi') ? 1024 : 1);

/** Warned once, at the first Windows host. */
const unproved: Rule = ({ hosts }) =>
  hosts
    .flatMap(({ os }, i) => (os === 'windows' ? [i] : []))
    .slice(0, 1)
    .map((i) => warning(['hosts', i, 'os'], 'Windows workers were tried on simulated hosts only, never on hardware'));

/** Why the network plugin and kube-proxy cannot be services of a Windows host with these settings. */
const networkServices = (file: InventoryFile, { serviceManager, downloads }: WindowsSettings): readonly string[] => {
  const { windows } = networkPluginNamed(file.network.plugin);
  const [service] = windows?.services ?? [];
  if (windows === undefined || service === undefined || !file.network.windows.services) return [];
  if (serviceManager !== 'nssm')
    return [
      `network.windows.services needs serviceManager nssm: ${service}.exe knows nothing of the service manager ` +
        'of Windows, which would end it; set windows.serviceManager: nssm, or leave services out and let them be ' +
        'pods',
    ];
  const files = windows.programs(pluginFile(file).settings(file)).map(({ file: name }) => name);
  const unknown = files.filter((name) => downloads.sha256[name] === undefined);
  return downloads.network !== '' && unknown.length === 0
    ? []
    : [
        `network.windows.services needs windows.downloads.network, the folder that holds ${files.join(', ')}, ` +
          `and windows.downloads.sha256 with their checksums (missing: ${unknown.join(', ') || 'none'})`,
      ];
};

/** `network.windows.services` is only for network plugins that can be services. */
const servicesOfPlugin: Rule = ({ network }) => {
  if (!network.windows.services || (networkPluginNamed(network.plugin).windows?.services ?? []).length > 0) return [];
  const names = networkPlugins.flatMap(({ name, windows }) => ((windows?.services ?? []).length > 0 ? [name] : []));
  return [
    problem(
      ['network', 'windows', 'services'],
      `is for network.plugin ${names.join(', ')}; services of another network are yours`,
    ),
  ];
};

/** Fields of KubeletConfiguration with a path that kubeadm does not give its drive on Windows. */
const PATH_FIELDS = ['tlsCertFile', 'tlsPrivateKeyFile', 'podLogsDir', 'volumePluginDir'];

/**
 * True for a value with a path of Linux: programs on Windows take it for one below the folder of their configuration.
 */
const hasNoDrive = (value: unknown): boolean => typeof value === 'string' && /(?:^|[,=])\/(?!\/)/.test(value);

/** Settings of the kubelet that a Windows host gets, from any level, and whose paths have no drive. */
function pathsWithoutDrive(file: InventoryFile, host: InventoryFile['hosts'][number]): readonly string[] {
  const { config, extraArgs } = kubeletOf(file, host);
  return [
    ...extraArgs.filter(({ value }) => hasNoDrive(value)).map(({ name, value }) => `--${name}=${value}`),
    ...PATH_FIELDS.filter((name) => hasNoDrive(config[name])).map((name) => `${name}: ${String(config[name])}`),
  ];
}

/** Taints that CoreDNS, as kubeadm deploys it, tolerates (phases/addons/dns/manifests.go). */
const TOLERATED: ReadonlySet<string> = new Set(['node-role.kubernetes.io/control-plane', 'CriticalAddonsOnly']);

/** CoreDNS runs on Linux alone: a Windows host does not stand in for Linux hosts that are closed to it. */
const dnsHasNode: Rule = (file) => {
  if ((file.kubeadm.cluster['dns'] as { readonly disabled?: unknown } | null | undefined)?.disabled === true) return [];
  if (!file.hosts.some(({ os }) => os === 'windows')) return [];
  const nodes = file.hosts.filter(
    ({ os, role }) => os !== 'windows' && (role === 'control-plane' || role === 'worker'),
  );
  const isOpen = (host: InventoryFile['hosts'][number]): boolean =>
    (levelsOf(file, host).findLast(({ taints }) => taints !== undefined)?.taints ?? []).every(
      ({ key, effect }) => effect === 'PreferNoSchedule' || TOLERATED.has(key),
    );
  return nodes.length === 0 || nodes.some(isOpen)
    ? []
    : [
        problem(
          ['hosts'],
          'has no Linux node on which CoreDNS can run: each has a taint that CoreDNS does not tolerate, and it does ' +
            'not run on Windows; take the taints from a Linux host, or add one',
        ),
      ];
};

/** What Windows hosts mean for the cluster. */
const ofCluster: Rule = (file) => [...unproved(file), ...dnsHasNode(file), ...servicesOfPlugin(file)];

/** Restrictions of Windows hosts, and settings that only they have. */
export const windowsHosts: Rule = (file) => [
  ...ofCluster(file),
  ...file.hosts.flatMap((host, i): readonly Violation[] => {
    const at = (...setting: readonly string[]) => ['hosts', i, ...setting];
    if (host.os !== 'windows')
      return Object.keys(host.windows).length === 0
        ? []
        : [problem(at('windows'), 'is only for hosts with "os: windows"')];
    const settings = windowsOf(file, host.windows);
    const { serviceManager, downloads, reserved, containerd } = settings;
    const kept = mebibytes(reserved.system) + mebibytes(reserved.kube);
    return [
      ...(host.name.length > NAME || host.name.includes('.')
        ? [problem(at('name'), `the name of a Windows host has at most ${NAME} characters and no dots`)]
        : []),
      ...(host.runtime === undefined ? [] : [problem(at('runtime'), 'is of Linux hosts; remove it')]),
      ...(Object.keys(host.sysctls).length > 0 ? [problem(at('sysctls'), 'are of Linux hosts; remove them')] : []),
      ...(host.setHostname === true ? [problem(at('setHostname'), 'kbuild does not rename Windows hosts')] : []),
      ...(serviceManager === 'nssm' && (downloads.nssm === '' || downloads.sha256['nssm.exe'] === undefined)
        ? [
            problem(
              at('windows'),
              'serviceManager nssm needs windows.downloads.nssm, the folder that holds nssm.exe, and ' +
                'windows.downloads.sha256 with its checksum',
            ),
          ]
        : []),
      ...pathsWithoutDrive(file, host).map((setting) =>
        problem(
          at('kubelet'),
          `${setting} is a path without a drive, which a kubelet on Windows looks for elsewhere; write C:/... ` +
            'for this host',
        ),
      ),
      ...networkServices(file, settings).map((message) => problem(at('windows'), message)),
      ...(containerd.version.startsWith('2.')
        ? []
        : [
            problem(
              at('windows'),
              `containerd ${containerd.version} is not supported on Windows hosts; kbuild writes the ` +
                'configuration of 2.x',
            ),
          ]),
      ...(kept < RESERVED_MIB
        ? [
            warning(
              at('windows'),
              `${kept} MiB of memory are kept from pods; Windows needs 2 GiB or more (windows.reserved), or pods ` +
                'starve it',
            ),
          ]
        : []),
    ];
  }),
  ...(file.kubernetes.endpointInHosts && file.hosts.some(({ os }) => os === 'windows')
    ? [problem(['kubernetes', 'endpointInHosts'], 'does not reach Windows hosts; use a name that DNS knows')]
    : []),
];
