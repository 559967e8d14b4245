import { parseAllDocuments } from 'yaml';
import type { Fleet, Observed } from '../cluster/fleet/fleet.ts';
import type { Host, Inventory } from '../inventory/inventory.ts';
import { windowsPaths } from '../paths.ts';
import { isObject, type JsonObject } from '../shell/decode.ts';
import type { Component, SettingsPlace } from './removed.value.ts';

type Settings = Pick<SettingsPlace, 'flags' | 'featureGates'>;
type Flags = SettingsPlace['flags'];

/** The value below these keys; undefined if one is missing. */
const below = (object: unknown, ...keys: readonly string[]): unknown =>
  keys.reduce<unknown>((value, key) => (isObject(value) ? value[key] : undefined), object);

/** A scalar of YAML as text. */
const textOf = (value: unknown): string =>
  typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean' ? String(value) : '';

const bare = (name: unknown): string => textOf(name).replace(/^--?/, '');

/** Arguments of a component: a list of name and value (v1beta4), or an object (older ClusterConfigurations). */
function argumentsOf(value: unknown): Flags {
  if (Array.isArray(value))
    return value
      .filter(isObject)
      .map((argument) => ({ name: bare(argument['name']), value: textOf(argument['value']) }));
  return isObject(value)
    ? Object.entries(value).map(([name, text]) => ({ name: bare(name), value: textOf(text) }))
    : [];
}

/** `--name=value` → name and value. */
const flagsOf = (texts: readonly string[]): Flags =>
  texts.map((text) => {
    const [, name = '', value = ''] = /^--?([^=]+)(?:=(.*))?$/s.exec(text) ?? [];
    return { name, value };
  });

const gatesOf = (value: unknown): Readonly<Record<string, boolean>> =>
  isObject(value)
    ? Object.fromEntries(Object.entries(value).map(([name, on]) => [name, on === true || on === 'true']))
    : {};

const gatesAlone = (value: unknown): Settings => ({ flags: [], featureGates: gatesOf(value) });
const flagsAlone = (flags: Flags): Settings => ({ flags, featureGates: {} });

const isEmpty = ({ flags, featureGates }: Settings): boolean =>
  flags.length === 0 && Object.keys(featureGates).length === 0;

/** Where a ClusterConfiguration has the arguments of a component. */
const ARGUMENTS: readonly (readonly [Component, readonly string[]])[] = [
  ['kube-apiserver', ['apiServer', 'extraArgs']],
  ['kube-controller-manager', ['controllerManager', 'extraArgs']],
  ['kube-scheduler', ['scheduler', 'extraArgs']],
  ['etcd', ['etcd', 'local', 'extraArgs']],
];

/** The names of a component's flags in a ClusterConfiguration. */
export const configuredFlags = (configuration: JsonObject, component: string): readonly string[] =>
  ARGUMENTS.filter(([name]) => name === component)
    .flatMap(([, path]) => argumentsOf(below(configuration, ...path)))
    .map(({ name }) => name);

/** The places in a ClusterConfiguration. `where`: a path in it → what operators call it. */
const clusterConfiguration = (
  configuration: JsonObject,
  source: SettingsPlace['source'],
  where: (path: string) => string,
): readonly SettingsPlace[] => [
  ...ARGUMENTS.map(([component, path]) => ({
    where: where(path.join('.')),
    source,
    hosts: [],
    component,
    ...flagsAlone(argumentsOf(below(configuration, ...path))),
  })),
  {
    where: where('featureGates'),
    source,
    hosts: [],
    component: 'kubeadm',
    ...gatesAlone(configuration['featureGates']),
  },
];

/** Which component a patch file of kubeadm is for, by its name. */
const TARGETS: readonly (readonly [string, Component])[] = [
  ['kube-apiserver', 'kube-apiserver'],
  ['kube-controller-manager', 'kube-controller-manager'],
  ['kube-scheduler', 'kube-scheduler'],
  ['etcd', 'etcd'],
  ['kubeletconfiguration', 'kubelet'],
  ['kubeproxydaemonset', 'kube-proxy'],
];

/** Feature gates in a patch of a configuration file: a merge patch, or a list of JSON patch operations. */
function patchedGates(content: string): Readonly<Record<string, boolean>> {
  const documents = parseAllDocuments(content).map((document) => document.toJS() as unknown);
  const operations = documents.flatMap((document) => (Array.isArray(document) ? (document as readonly unknown[]) : []));
  const single = operations.filter(isObject).flatMap((operation) => {
    const [, name] = /^\/featureGates\/(\w+)$/.exec(textOf(operation['path'])) ?? [];
    if (name !== undefined) return [{ [name]: operation['value'] }];
    return operation['path'] === '/featureGates' ? [operation['value']] : [];
  });
  return Object.assign(
    {},
    ...[...documents.map((one) => below(one, 'featureGates')), ...single].map(gatesOf),
  ) as Record<string, boolean>;
}

/** Flags that a patch of a pod names, in whichever field. */
const patchedFlags = (content: string): Flags =>
  flagsOf([...content.matchAll(/(?<![\w-])--[a-z][\w-]*(?:=[^\s"'\]]*)?/g)].map(([flag]) => flag));

const patches = ({ kubeadm }: Inventory): readonly SettingsPlace[] =>
  Object.entries(kubeadm.patches).flatMap(([name, content]) => {
    const [prefix, component] = TARGETS.find(([target]) => name.startsWith(target)) ?? [];
    if (component === undefined) return [];
    const settings =
      prefix === 'kubeletconfiguration'
        ? { flags: [], featureGates: patchedGates(content) }
        : flagsAlone(patchedFlags(content));
    return [{ where: `kubeadm.patches.${name}`, source: 'inventory' as const, hosts: [], component, ...settings }];
  });

/** Names in full for one sentence: `w1, w2, w3, w4 and 8 more`. */
const named = (names: readonly string[]): string =>
  names.length <= 5 ? names.join(', ') : `${names.slice(0, 4).join(', ')} and ${String(names.length - 4)} more`;

/** Settings of kubelets, one place for all hosts that have the same ones. `all`: the hosts that could have them. */
function kubelets(
  file: string,
  source: SettingsPlace['source'],
  settings: readonly (readonly [host: string, Settings])[],
): readonly SettingsPlace[] {
  const groups = new Map<string, { readonly settings: Settings; readonly hosts: readonly string[] }>();
  for (const [host, one] of settings) {
    const key = JSON.stringify([one.flags, Object.entries(one.featureGates).toSorted()]);
    groups.set(key, { settings: one, hosts: [...(groups.get(key)?.hosts ?? []), host] });
  }
  return [...groups.values()].map(({ settings: one, hosts }) => {
    const isEverywhere = source === 'inventory' && hosts.length === settings.length;
    return {
      where: isEverywhere ? file : `${file} of ${named(hosts)}`,
      source,
      hosts: isEverywhere ? [] : hosts,
      component: 'kubelet' as const,
      ...one,
    };
  });
}

const hasKubelet = ({ role }: Host): boolean => role !== 'load-balancer';

function fromInventory(inventory: Inventory): readonly SettingsPlace[] {
  const hosts = inventory.hosts.filter(hasKubelet);
  const { cluster, kubeProxy } = inventory.kubeadm;
  return [
    ...clusterConfiguration(cluster, 'inventory', (path) => `kubeadm.cluster.${path}`),
    {
      where: 'kubeadm.kubeProxy.featureGates',
      source: 'inventory',
      hosts: [],
      component: 'kube-proxy',
      ...gatesAlone(kubeProxy['featureGates']),
    },
    ...kubelets(
      'kubelet.config.featureGates',
      'inventory',
      hosts.map(({ name, kubelet }) => [name, gatesAlone(kubelet.config['featureGates'])]),
    ),
    ...kubelets(
      'kubelet.extraArgs',
      'inventory',
      hosts.map(({ name, kubelet }) => [name, flagsAlone(argumentsOf(kubelet.extraArgs))]),
    ),
    ...patches(inventory),
  ];
}

const fromCluster = ({ cluster }: Fleet): readonly SettingsPlace[] =>
  cluster.state !== 'up'
    ? []
    : [
        ...clusterConfiguration(
          cluster.configuration,
          'kubeadm-config',
          (path) => `ConfigMap kubeadm-config (${path})`,
        ),
        {
          where: 'ConfigMap kubelet-config (featureGates)',
          source: 'kubelet-config',
          hosts: [],
          component: 'kubelet',
          ...gatesAlone(cluster.kubeletConfiguration['featureGates']),
        },
      ];

/** The administrator's file, of which only names of flags are observed. */
const overrides = (seen: Observed): readonly SettingsPlace[] =>
  seen.os === 'windows'
    ? []
    : seen.facts.kubeletOverrides.map(({ file, variable, flags }) => ({
        where: `${variable} in ${file} of ${seen.host.name}`,
        source: 'administrator' as const,
        hosts: [seen.host.name],
        component: 'kubelet' as const,
        ...flagsAlone(flagsOf(flags)),
      }));

/** The kubelet's files on the hosts of one operating system. */
function kubeletFiles(seen: readonly Observed[], files: { readonly flags: string; readonly config: string }) {
  const flags = seen.flatMap(({ host, facts: { kubeletFlags } }) =>
    kubeletFlags === 'absent' ? [] : [[host.name, flagsAlone(flagsOf(kubeletFlags))] as const],
  );
  const configs = seen.flatMap(({ host, facts: { kubeletConfig } }) =>
    kubeletConfig === 'absent' ? [] : [[host.name, gatesAlone(kubeletConfig['featureGates'])] as const],
  );
  return [...kubelets(files.flags, 'kubeadm-flags.env', flags), ...kubelets(files.config, 'config.yaml', configs)];
}

function fromHosts(fleet: Fleet): readonly SettingsPlace[] {
  const seen = fleet.hosts.filter(({ host }) => hasKubelet(host));
  const on = (os: Observed['os']): readonly Observed[] => seen.filter((one) => one.os === os);
  return [
    ...kubeletFiles(on('linux'), {
      flags: '/var/lib/kubelet/kubeadm-flags.env',
      config: '/var/lib/kubelet/config.yaml',
    }),
    ...kubeletFiles(on('windows'), { flags: windowsPaths.kubeletFlags, config: windowsPaths.kubeletConfig }),
    ...seen.flatMap(overrides),
  ];
}

/**
 * All places where settings of components stand, as far as kbuild observes them: those of the inventory first, then
 * those of the cluster, then those of hosts. Empty places are left out. Not observed: flags that an operator wrote into
 * a static pod's manifest (kubeadm overwrites it), and values of flags in /etc/default/kubelet. Throws `FactError`
 * when a fact is unknown.
 */
export const settingsPlaces = (inventory: Inventory, fleet: Fleet): readonly SettingsPlace[] =>
  [...fromInventory(inventory), ...fromCluster(fleet), ...fromHosts(fleet)].filter((place) => !isEmpty(place));
