import { table } from '../templates.ts';
import { compareVersions, minorOf } from '../versions.ts';

type Lists = Readonly<Record<string, readonly string[]>>;

/** What one minor of Kubernetes no longer knows: an entry of templates/tables/removed.json. */
interface RemovedData {
  readonly minor: string;
  readonly compared: { readonly kubernetes: readonly [string, string]; readonly etcd: readonly [string, string] };
  /** By component, names without dashes. */
  readonly flags: Lists;
  /** By the set of gates: `kubernetes` (all of its components), `etcd`, `kubeadm`. */
  readonly gates: Lists;
  /** `NAME=VALUE`: the only value that is accepted from this minor on. */
  readonly locked: Lists;
  readonly apis: readonly string[];
  readonly groupVersions: readonly string[];
}

/** What reads feature gates or flags. `kubeadm`: `featureGates` of its ClusterConfiguration. */
export type Component =
  'kube-apiserver' | 'kube-controller-manager' | 'kube-scheduler' | 'kubelet' | 'kube-proxy' | 'etcd' | 'kubeadm';

/** A flag with which a component does not start from a minor on. */
interface RemovedFlag {
  /** Without dashes. */
  readonly name: string;
  /** True if kbuild takes the flag out of kubeadm-flags.env before the newer kubelet starts. */
  readonly kbuildRemovesIt: boolean;
}

/** A feature gate that a component accepts with one value only. */
interface LockedGate {
  readonly name: string;
  readonly value: boolean;
}

/** What one minor no longer knows, compared with the minor before. */
export interface RemovedInMinor {
  /** e.g. `1.36` */
  readonly minor: string;
  /** The versions whose sources were compared, the older one first. The etcd is the one that kubeadm installs. */
  readonly compared: RemovedData['compared'];
  readonly flags: (component: Component) => readonly RemovedFlag[];
  /** A component does not start with a gate that it does not know. */
  readonly gates: (component: Component) => readonly string[];
  readonly locked: (component: Component) => readonly LockedGate[];
  /** API versions that are no longer served, as `group/version/Kind`. */
  readonly apis: readonly string[];
  /** `group/version` that kube-apiserver does not know: it does not start if `--runtime-config` names one. */
  readonly groupVersions: readonly string[];
}

/**
 * The minors in which the kubelet lost flags that kubeadm wrote itself (1.35: the image of pause) or that it had by
 * mistake (1.37: flags of cAdvisor): kbuild takes them out of kubeadm-flags.env.
 */
const KBUILD_REMOVES: ReadonlySet<string> = new Set(['1.35', '1.37']);

/** All components of Kubernetes share one set of gates. */
const gateSet = (component: Component): string =>
  component === 'etcd' || component === 'kubeadm' ? component : 'kubernetes';

let read: readonly RemovedInMinor[] | undefined;

/** By minor, oldest first; read when they are first needed. Which versions were compared: docs/upgrade-removed.md. */
export const removedTables = (): readonly RemovedInMinor[] =>
  (read ??= (JSON.parse(table('removed')) as readonly RemovedData[]).map((data) => ({
    ...data,
    flags: (component) =>
      (data.flags[component] ?? []).map((name) => ({
        name,
        kbuildRemovesIt: component === 'kubelet' && KBUILD_REMOVES.has(data.minor),
      })),
    gates: (component) => data.gates[gateSet(component)] ?? [],
    locked: (component) =>
      (data.locked[gateSet(component)] ?? []).map((word) => {
        const [name = '', value] = word.split('=');
        return { name, value: value === 'true' };
      }),
  })));

/**
 * What kind of place it is: the inventory, a ConfigMap of kubeadm, a file that kubeadm and kbuild write for the
 * kubelet, or the administrator's file of arguments (e.g. /etc/default/kubelet).
 */
export type PlaceSource =
  'inventory' | 'kubeadm-config' | 'kubelet-config' | 'kubeadm-flags.env' | 'config.yaml' | 'administrator';

/** A place where settings of a component stand. */
export interface SettingsPlace {
  /** As an operator finds it: `kubeadm.cluster.apiServer.extraArgs`, `/var/lib/kubelet/kubeadm-flags.env of w1`. */
  readonly where: string;
  readonly source: PlaceSource;
  /** Names of the hosts that it acts on; empty: all. */
  readonly hosts: readonly string[];
  readonly component: Component;
  /** Names without leading dashes. */
  readonly flags: readonly { readonly name: string; readonly value: string }[];
  /** As a configuration file has them; those of the flag `feature-gates` count too. */
  readonly featureGates: Readonly<Record<string, boolean>>;
}

/** A setting with which its component does not start after an upgrade. */
export interface RemovedUse {
  /** As in the place. */
  readonly where: string;
  readonly source: PlaceSource;
  readonly hosts: readonly string[];
  readonly component: Component;
  readonly kind: 'gate' | 'locked gate' | 'flag' | 'API';
  /** Of the gate or the flag (without dashes), or `group/version`. */
  readonly name: string;
  /** The first minor that does not accept it, e.g. `1.36`. */
  readonly removedIn: string;
  /** True if kbuild itself takes this flag out of this file before the newer kubelet starts: no reason to refuse. */
  readonly kbuildRemovesIt: boolean;
  /** The setting, and which version does not accept it, in one line without a full stop. */
  readonly message: string;
}

type Found = Pick<RemovedUse, 'kind' | 'name' | 'message' | 'kbuildRemovesIt'>;

/** `A=true,kube:B=false` → A, B. A component's name may stand before a gate since 1.31 (component-base). */
const parsedGates = (value: string): readonly (readonly [string, boolean])[] =>
  value
    .split(',')
    .map((pair) => pair.trim().replace(/^[a-z]+:/, ''))
    .filter((pair) => pair.includes('='))
    .map((pair) => {
      const [name = '', text = ''] = pair.split('=').map((part) => part.trim());
      return [name, /^(?:1|t|true)$/i.test(text)] as const;
    });

const valuesOf = ({ flags }: SettingsPlace, flag: string): readonly string[] =>
  flags.filter(({ name }) => name === flag).map(({ value }) => value);

const gatesOf = (place: SettingsPlace): ReadonlyMap<string, boolean> =>
  new Map([...Object.entries(place.featureGates), ...valuesOf(place, 'feature-gates').flatMap(parsedGates)]);

/** The `group/version` that `--runtime-config` enables or disables; also from `group/version/resource=true`. */
const runtimeConfig = (place: SettingsPlace): ReadonlySet<string> =>
  new Set(
    place.component === 'kube-apiserver'
      ? valuesOf(place, 'runtime-config').flatMap((value) =>
          value.split(',').map((pair) => pair.trim().split('=')[0]!.split('/').slice(0, 2).join('/')),
        )
      : [],
  );

const etcdMinor = ({ compared }: RemovedInMinor): string => minorOf(compared.etcd[1]);

/** `Kubernetes 1.36`, or `etcd 3.7, which comes with Kubernetes 1.37,` */
const releaseOf = (component: Component, table: RemovedInMinor): string =>
  component === 'etcd'
    ? `etcd ${etcdMinor(table)}, which comes with Kubernetes ${table.minor},`
    : `${component === 'kubeadm' ? 'kubeadm' : 'Kubernetes'} ${table.minor}`;

function foundIn(place: SettingsPlace, table: RemovedInMinor): readonly Found[] {
  const { component } = place;
  const release = releaseOf(component, table);
  const gates = gatesOf(place);
  const versions = runtimeConfig(place);
  const used = new Set(place.flags.map(({ name }) => name));
  const byOthers = { kbuildRemovesIt: false };
  return [
    ...table
      .gates(component)
      .filter((name) => gates.has(name))
      .map((name) => ({
        ...byOthers,
        kind: 'gate' as const,
        name,
        message: `feature gate ${name}=${String(gates.get(name))}: ${release} does not know it`,
      })),
    ...table
      .locked(component)
      .filter(({ name, value }) => gates.has(name) && gates.get(name) !== value)
      .map(({ name, value }) => ({
        ...byOthers,
        kind: 'locked gate' as const,
        name,
        message: `feature gate ${name}=${String(!value)}: ${release} accepts only ${String(value)}`,
      })),
    ...table
      .flags(component)
      .filter(({ name }) => used.has(name))
      .map(({ name, kbuildRemovesIt }) => ({
        kind: 'flag' as const,
        name,
        kbuildRemovesIt: kbuildRemovesIt && place.source === 'kubeadm-flags.env',
        message: `--${name}: ${release} does not know it`,
      })),
    ...table.groupVersions
      .filter((name) => versions.has(name))
      .map((name) => ({
        ...byOthers,
        kind: 'API' as const,
        name,
        message: `--runtime-config with ${name}: ${release} does not know this API version`,
      })),
  ];
}

/**
 * The settings with which their components do not start after an upgrade from version `from` to version `to`: each once
 * a place, with the first minor that does not accept it. Only minors newer than that of `from`, up to that of `to`,
 * count.
 */
export function removedInUse(places: readonly SettingsPlace[], from: string, to: string): readonly RemovedUse[] {
  const tables = removedTables().filter(
    ({ minor }) => compareVersions(minor, minorOf(from)) > 0 && compareVersions(minor, minorOf(to)) <= 0,
  );
  return places.flatMap((place) => {
    const { where, source, hosts, component } = place;
    const uses = tables.flatMap((table) =>
      foundIn(place, table).map((found): RemovedUse => ({
        where,
        source,
        hosts,
        component,
        removedIn: table.minor,
        ...found,
      })),
    );
    const key = ({ kind, name }: RemovedUse): string => `${kind === 'locked gate' ? 'gate' : kind} ${name}`;
    return uses.filter((use, i) => uses.findIndex((other) => key(other) === key(use)) === i);
  });
}
