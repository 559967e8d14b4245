import { type StaticPod, staticPodVersions } from '../cluster/api-versions.ts';
import { type Fleet, observedHost } from '../cluster/fleet/fleet.ts';
import type { ClusterUp, ClusterView } from '../cluster/fleet/view.ts';
import type { Host, Inventory } from '../inventory/inventory.ts';
import { versionIn } from '../versions.ts';

/** The versions that a host runs and has installed, without `v`; empty if it has none, or if it is unknown. */
export interface HostVersions {
  readonly name: string;
  readonly apiServer: string;
  readonly controllerManager: string;
  readonly scheduler: string;
  /** Of the member's server. */
  readonly etcd: string;
  /** The kubelet that reports to the API. */
  readonly kubelet: string;
  /** Packages. */
  readonly installed: { readonly kubelet: string; readonly kubeadm: string; readonly kubectl: string };
  /** Its name and version, as the node reports them. */
  readonly runtime: string;
}

/** The version of a program on a host: that of its package, or on Windows the one that the program prints. */
function installedText(fleet: Fleet, host: Host, program: string): string | undefined {
  const seen = observedHost(fleet, host.name);
  if (seen?.os === 'linux') return seen.facts.packages.get(program)?.version;
  // kbuild installs no kubectl there.
  return program === 'kubectl' ? undefined : seen?.facts.programs.get(program)?.said;
}

/** The versions of every node, and of the hosts of an etcd beside them. */
export function versionsOf(
  inventory: Inventory,
  fleet: Fleet,
  cluster: ClusterUp & Pick<ClusterView, 'etcd'>,
): readonly HostVersions[] {
  const pods = (pod: StaticPod) => staticPodVersions(cluster, pod);
  const [api, manager, scheduler] = [pods('kube-apiserver'), pods('kube-controller-manager'), pods('kube-scheduler')];
  const built = cluster.etcd?.state === 'up' ? cluster.etcd.members : [];
  const members = new Map([...cluster.members, ...built].map(({ name, version }) => [name, version ?? '']));
  const nodes = new Map(cluster.nodes.map((node) => [node.name, node]));
  const names = new Set([
    ...nodes.keys(),
    ...inventory.hosts.flatMap(({ name, role }) => (role === 'etcd' && members.has(name) ? [name] : [])),
  ]);
  return [...names].map((name) => {
    const host = inventory.hosts.find((one) => one.name === name);
    const installed = (program: string): string => versionIn(host && installedText(fleet, host, program)) ?? '';
    return {
      name,
      apiServer: api.get(name) ?? '',
      controllerManager: manager.get(name) ?? '',
      scheduler: scheduler.get(name) ?? '',
      etcd: members.get(name) ?? '',
      kubelet: versionIn(nodes.get(name)?.kubeletVersion) ?? '',
      installed: { kubelet: installed('kubelet'), kubeadm: installed('kubeadm'), kubectl: installed('kubectl') },
      runtime: nodes.get(name)?.runtime ?? '',
    };
  });
}

/** True if two hosts run different versions, or if a host runs another version than it has installed. */
export function areMixed(versions: readonly HostVersions[]): boolean {
  const several = (found: readonly string[]): boolean => new Set(found.filter((version) => version !== '')).size > 1;
  const kubernetes = versions.flatMap(({ apiServer, controllerManager, scheduler, kubelet, installed }) => [
    ...[apiServer, controllerManager, scheduler, kubelet],
    ...[installed.kubelet, installed.kubeadm, installed.kubectl],
  ]);
  return (
    several(kubernetes) || several(versions.map(({ etcd }) => etcd)) || several(versions.map(({ runtime }) => runtime))
  );
}

/** The rows of a table of versions, the heading first. */
export const versionRows = (versions: readonly HostVersions[]): readonly (readonly string[])[] => [
  [
    'HOST',
    'API-SERVER',
    'CONTROLLER-MANAGER',
    'SCHEDULER',
    'ETCD',
    'KUBELET',
    'INSTALLED',
    'KUBEADM',
    'KUBECTL',
    'RUNTIME',
  ],
  ...versions.map(({ name, apiServer, controllerManager, scheduler, etcd, kubelet, installed, runtime }) =>
    [
      ...[name, apiServer, controllerManager, scheduler, etcd, kubelet],
      ...[installed.kubelet, installed.kubeadm, installed.kubectl, runtime],
    ].map((cell) => (cell === '' ? '-' : cell)),
  ),
];
