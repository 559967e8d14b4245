import { flagProblem, flagValueProblem, gateProblems, isSingle } from '../../../../kubeadm/flag-problems.value.ts';
import { type FlagComponent, flagsOf, gatesOf, knownVersion } from '../../../../kubeadm/tables.value.ts';
import { compareVersions } from '../../../../versions.ts';
import { problem, repeated, type Rule, type Violation, warning } from '../../../schema/rule.ts';
import type { InventoryFile } from '../../../schema/schema.ts';
import { argumentPlaces, type WrittenArguments } from './places.ts';
import { gatePlaces } from './types.ts';

const OWN = 'kbuild decides it';
const OF_KUBEADM = 'kubeadm decides it';
const OF_ETCD = 'use etcd';
const OF_MEMBER = 'kubeadm names the members and where they listen, and kbuild reaches them there';

/** Flags that kbuild or kubeadm sets, by component, and what to use instead. */
const OWNED: Readonly<Record<FlagComponent, Readonly<Record<string, string>>>> = {
  'kube-apiserver': {
    'advertise-address': 'use internalAddress of the host',
    'secure-port': 'it follows kubernetes.endpoint and loadBalancer',
    'service-cluster-ip-range': 'use network.serviceSubnet',
    'etcd-servers': OF_ETCD,
    'etcd-cafile': OF_ETCD,
    'etcd-certfile': OF_ETCD,
    'etcd-keyfile': OF_ETCD,
  },
  'kube-controller-manager': {
    'cluster-cidr': 'use network.podSubnet',
    'service-cluster-ip-range': 'use network.serviceSubnet',
    'cluster-name': 'use name',
    kubeconfig: OF_KUBEADM,
  },
  'kube-scheduler': { kubeconfig: OF_KUBEADM },
  etcd: {
    name: OF_MEMBER,
    'data-dir': 'use kubeadm.cluster.etcd.local.dataDir',
    'listen-client-urls': OF_MEMBER,
    'advertise-client-urls': OF_MEMBER,
    'listen-peer-urls': OF_MEMBER,
    'initial-advertise-peer-urls': OF_MEMBER,
    'initial-cluster': OF_MEMBER,
    'initial-cluster-state': OF_MEMBER,
  },
  kubelet: {
    'node-ip': 'use internalAddress of the host',
    'hostname-override': 'use name of the host',
    'node-labels': 'use labels of the host or of its role',
    'register-with-taints': 'use taints of the host or of its role',
    'cgroup-driver': 'use runtime.cgroupDriver',
    'container-runtime-endpoint': 'it follows runtime.name',
    'pod-infra-container-image': 'it follows the version of Kubernetes',
    config: 'use kubelet.config',
    kubeconfig: OWN,
    'bootstrap-kubeconfig': OWN,
  },
};

/** Flags without which a cluster of kbuild does not work, with the only value that does. */
const NEEDED: Readonly<
  Partial<Record<FlagComponent, Readonly<Record<string, readonly [value: string, why: string]>>>>
> = {
  'kube-apiserver': {
    'enable-bootstrap-token-auth': ['true', 'no host could join'],
    'allow-privileged': ['true', 'kube-proxy could not run'],
  },
  'kube-controller-manager': {
    'allocate-node-cidrs': ['true', 'nodes would have no part of network.podSubnet'],
  },
};

/** Flags that a network of the user's own may need otherwise. */
const OF_NETWORK: ReadonlySet<string> = new Set(['allocate-node-cidrs']);

/**
 * The message for a flag that an inventory must not set, or not to this value; undefined if it may. `isOwnNetwork`: the
 * user installs the network.
 */
export function ownedFlag(
  component: FlagComponent,
  { name, value }: { readonly name: string; readonly value: unknown },
  isOwnNetwork: boolean,
): string | undefined {
  const instead = Object.hasOwn(OWNED[component], name) ? OWNED[component][name] : undefined;
  if (instead !== undefined) return `--${name} is set by kbuild: ${instead}`;
  if (isOwnNetwork && OF_NETWORK.has(name)) return undefined;
  const [needed, why] = NEEDED[component]?.[name] ?? [];
  return needed === undefined || value === needed ? undefined : `--${name} must be ${needed}: else ${why!}; remove it`;
}

/**
 * A patch release can bring a gate or a flag, as fixes of 1.30 to 1.32 did: what is unknown in a version that is newer
 * than the tables' is a warning. What another version is known to have had is not.
 */
const unsure = (version: string): boolean => compareVersions(version, knownVersion(version).source) > 0;

function argumentViolations(
  { component, path, items }: WrittenArguments,
  { kubernetes: { version }, network }: InventoryFile,
): readonly Violation[] {
  const { minor } = knownVersion(version);
  const { names, elsewhere } = flagsOf(component, minor);
  const severityOf = (name: string) =>
    unsure(version) && !names.includes(name) && elsewhere(name) === undefined ? warning : problem;
  return items.flatMap(({ name, value, index }): readonly Violation[] => {
    const at = (field: string) => [...path, index, field];
    const owned = ownedFlag(component, { name: name.replace(/^-+/, ''), value }, network.plugin === 'none');
    if (owned !== undefined) return [problem(at('name'), owned)];
    const unknown = flagProblem(component, name, minor);
    if (unknown !== undefined) return [(name.startsWith('-') ? problem : severityOf(name))(at('name'), unknown)];
    const wrong = typeof value === 'string' ? flagValueProblem(component, name, value, minor) : undefined;
    return wrong === undefined ? [] : [(unsure(version) ? warning : problem)(at('value'), wrong)];
  });
}

/** A component has the flags that it is given, can read their values, and has each single one once. */
export const typedArguments: Rule = (file) => {
  const { version } = file.kubernetes;
  return argumentPlaces(file).flatMap((place) => [
    ...argumentViolations(place, file),
    ...repeated(place.items, ({ name }) => name)
      .filter(({ key }) => isSingle(place.component, key, knownVersion(version).minor))
      .map(({ index, key }) =>
        problem(
          [...place.path, place.items[index]!.index, 'name'],
          `--${key} is given above already, and only the last one would count; keep one of the two`,
        ),
      ),
  ]);
};

/** Feature gates exist, and can be set to what they are set to. */
export const featureGates: Rule = (file) => {
  const { version } = file.kubernetes;
  return gatePlaces(file).flatMap(([path, set, gates]) => {
    const { minor } = knownVersion(version);
    const { names, elsewhere } = gatesOf(set, minor);
    return gateProblems(gates, set, minor).map(({ keys, message }) => {
      const name = String(keys[0]);
      const isSure = !unsure(version) || names.includes(name) || elsewhere(name) !== undefined;
      return (isSure ? problem : warning)([...path, name], message);
    });
  });
};
