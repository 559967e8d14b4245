import { networkPluginNamed } from '../../../../network/plugins.value.ts';
import { isObject } from '../../../../shell/decode.ts';
import { familiesOf, widthOf } from '../../../addresses.ts';
import { type Path, problem, type Rule, type Violation, warning } from '../../../schema/rule.ts';
import type { InventoryFile } from '../../../schema/schema.ts';
import { kubeletOf, levelsOf } from '../../levels.ts';
import { nodeBits } from '../network.ts';
import { contradictions } from './kubelet-values.ts';
import { below, kubeletPlaces } from './places.ts';

type HostEntry = InventoryFile['hosts'][number];

/** The nearest place where a host has a field of its kubelet's configuration. */
function placeOf(file: InventoryFile, host: HostEntry, field: string): Path | undefined {
  const levels = [file, ...levelsOf(file, host)] as readonly { readonly kubelet: InventoryFile['kubelet'] }[];
  const level = levels.findLast(({ kubelet }) => Object.hasOwn(kubelet.config, field));
  const place = kubeletPlaces(file).find(([, kubelet]) => kubelet === level?.kubelet);
  return place && [...place[0], 'config', field];
}

const nodes = ({ hosts }: InventoryFile): readonly HostEntry[] =>
  hosts.filter(({ role }) => role === 'control-plane' || role === 'worker');

/** Each finding once, however many hosts it is about. */
const each = (found: readonly Violation[]): readonly Violation[] => [
  ...new Map(found.map((one) => [`${JSON.stringify(one.path)} ${one.message}`, one])).values(),
];

/** The settings of one kubelet, from all levels, go together. */
export const kubeletsAgree: Rule = (file) =>
  kubeletPlaces(file).length === 0
    ? []
    : each(
        nodes(file).flatMap((host) =>
          Object.entries(contradictions(kubeletOf(file, host).config)).map(([field, message]) =>
            problem(placeOf(file, host, field) ?? ['kubelet', 'config', field], message),
          ),
        ),
      );

/** Addresses of a node's network that no pod gets: its first and last one, and that of the bridge. */
const OF_NO_POD = 3;

/** A node has an address for each of its pods. Pods in the host's network need none, so it is a warning. */
export const podsOfNode: Rule = (file) => {
  if (networkPluginNamed(file.network.plugin).addressesFromNode !== true || kubeletPlaces(file).length === 0) return [];
  // Of two families, each pod has an address of both.
  const rooms = familiesOf(file).map((family) => [widthOf(family) - nodeBits(file, family), family] as const);
  const [free, family] = rooms.toSorted(([a], [b]) => a - b)[0]!;
  const most = 2 ** free - OF_NO_POD;
  const bits = widthOf(family) - free;
  return each(
    nodes(file).flatMap((host) => {
      const wanted = kubeletOf(file, host).config['maxPods'];
      const place = placeOf(file, host, 'maxPods');
      return typeof wanted === 'number' && wanted > most && place !== undefined
        ? [
            warning(
              place,
              `a node has addresses for ${String(most)} pods: it takes a /${String(bits)} of network.podSubnet; ` +
                `further pods of ${String(wanted)} stay in ContainerCreating. Set at most ${String(most)}, or ` +
                'node-cidr-mask-size in kubeadm.cluster.controllerManager.extraArgs of a new cluster',
            ),
          ]
        : [];
    }),
  );
};

const DISABLED: Path = ['kubeadm', 'cluster', 'proxy', 'disabled'];

/**
 * The file with `network.kubeProxy` written as the overrides of kubeadm that it stands for. What those say already
 * stays: `kubeProxyOnce` refuses a contradiction at its place.
 */
export function withKubeProxy(file: InventoryFile): InventoryFile {
  const mode = file.network.kubeProxy;
  const { cluster, kubeProxy } = file.kubeadm;
  if (mode === undefined) return file;
  if (mode !== 'none')
    return 'mode' in kubeProxy ? file : { ...file, kubeadm: { ...file.kubeadm, kubeProxy: { ...kubeProxy, mode } } };
  const { proxy = {} } = cluster;
  if (!isObject(proxy) || 'disabled' in proxy) return file;
  return { ...file, kubeadm: { ...file.kubeadm, cluster: { ...cluster, proxy: { ...proxy, disabled: true } } } };
}

/** The overrides of kubeadm, after `withKubeProxy`, say nothing else than `network.kubeProxy`. */
export const kubeProxyOnce: Rule = ({ network: { kubeProxy: word }, kubeadm }) => {
  if (word === undefined) return [];
  const isNone = word === 'none';
  const isDisabled = below(kubeadm.cluster, 'proxy', 'disabled') === true;
  const skipped: unknown = kubeadm.init['skipPhases'];
  const isSkipped = !isNone && Array.isArray(skipped) && skipped.some((phase) => OF_KUBE_PROXY.includes(phase));
  const why = `contradicts network.kubeProxy: ${word}; remove one of them`;
  return [
    ...(kubeadm.kubeProxy['mode'] === (isNone ? undefined : word)
      ? []
      : [problem(['kubeadm', 'kubeProxy', 'mode'], why)]),
    ...(isDisabled === isNone ? [] : [problem(DISABLED, why)]),
    ...(isSkipped ? [problem(['kubeadm', 'init', 'skipPhases'], `leaves kube-proxy out, which ${why}`)] : []),
  ];
};

/** Phases of init that install kube-proxy. */
const OF_KUBE_PROXY: readonly unknown[] = ['addon', 'addon/all', 'addon/kube-proxy'];

/** A network plugin that reaches the API server by the address of its Service has a kube-proxy that serves it. */
export const kubeProxyOfPlugin: Rule = ({ network, kubeadm }) => {
  const { needsKubeProxy, title } = networkPluginNamed(network.plugin);
  if (needsKubeProxy !== true) return [];
  const why =
    `${title} reaches the API server by its Service, which only kube-proxy serves; remove it, or set ` +
    'network.plugin: none and install a network that needs no kube-proxy';
  const skipped: unknown = kubeadm.init['skipPhases'];
  return [
    ...(Array.isArray(skipped) ? (skipped as readonly unknown[]) : []).flatMap((phase, i) =>
      OF_KUBE_PROXY.includes(phase) ? [problem(['kubeadm', 'init', 'skipPhases', i], why)] : [],
    ),
    ...(below(kubeadm.cluster, 'proxy', 'disabled') === true
      ? [problem(network.kubeProxy === 'none' ? ['network', 'kubeProxy'] : DISABLED, why)]
      : []),
  ];
};
