import type { FlagComponent } from '../../../../kubeadm/tables.value.ts';
import { isObject } from '../../../../shell/decode.ts';
import type { Path } from '../../../schema/rule.ts';
import type { InventoryFile } from '../../../schema/schema.ts';

/** What the inventory calls each document of kubeadm's configuration, and its type. */
export const DOCUMENT_TYPES = {
  init: 'InitConfiguration',
  cluster: 'ClusterConfiguration',
  join: 'JoinConfiguration',
  kubeProxy: 'KubeProxyConfiguration',
  reset: 'ResetConfiguration',
} as const;

/** The names of these documents. */
export const DOCUMENTS = Object.keys(DOCUMENT_TYPES) as readonly (keyof typeof DOCUMENT_TYPES)[];

type Kubelet = InventoryFile['kubelet'];

/** The kubelet settings of every level that has some, with their places. */
export const kubeletPlaces = ({
  kubelet,
  roles,
  groups,
  hosts,
}: InventoryFile): readonly (readonly [Path, Kubelet])[] =>
  [
    [['kubelet'], kubelet] as const,
    ...Object.entries(roles).map(([role, level]) => [['roles', role, 'kubelet'], level.kubelet] as const),
    ...Object.entries(groups).map(([name, level]) => [['groups', name, 'kubelet'], level.kubelet] as const),
    ...hosts.map((host, i) => [['hosts', i, 'kubelet'], host.kubelet] as const),
  ].filter(([, { config, extraArgs }]) => Object.keys(config).length > 0 || extraArgs.length > 0);

/** Where a ClusterConfiguration has the arguments of a component. */
const ARGUMENTS: readonly (readonly [FlagComponent, readonly string[]])[] = [
  ['kube-apiserver', ['apiServer']],
  ['kube-controller-manager', ['controllerManager']],
  ['kube-scheduler', ['scheduler']],
  ['etcd', ['etcd', 'local']],
];

/** The lists of arguments in a ClusterConfiguration. */
export const argumentLists: readonly (readonly string[])[] = ARGUMENTS.map(([, keys]) => [...keys, 'extraArgs']);

/** The value below these names; undefined if there is none. */
export const below = (value: unknown, ...names: readonly string[]): unknown =>
  names.reduce<unknown>((found, name) => (isObject(found) ? found[name] : undefined), value);

/** Arguments of one component, as written: their type is checked elsewhere. */
export interface WrittenArguments {
  readonly component: FlagComponent;
  readonly path: Path;
  readonly items: readonly { readonly name: string; readonly value: unknown; readonly index: number }[];
}

const itemsOf = (value: unknown): WrittenArguments['items'] =>
  (Array.isArray(value) ? (value as readonly unknown[]) : []).flatMap((one, index) =>
    isObject(one) && typeof one['name'] === 'string' ? [{ name: one['name'], value: one['value'], index }] : [],
  );

/** All arguments of components in an inventory. */
export const argumentPlaces = (file: InventoryFile): readonly WrittenArguments[] =>
  [
    ...ARGUMENTS.map(([component, keys]) => ({
      component,
      path: ['kubeadm', 'cluster', ...keys, 'extraArgs'],
      items: itemsOf(below(file.kubeadm.cluster, ...keys, 'extraArgs')),
    })),
    ...kubeletPlaces(file).map(([path, { extraArgs }]) => ({
      component: 'kubelet' as const,
      path: [...path, 'extraArgs'],
      items: itemsOf(extraArgs),
    })),
  ].filter(({ items }) => items.length > 0);
