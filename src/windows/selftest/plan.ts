import type { ClusterUp, NodeView } from '../../facts/cluster.ts';

/** Nodes that are tested together: the nodes of one build of Windows, or the Linux nodes. */
export interface Group {
  /** `windows 10.0.20348`, `linux` */
  readonly about: string;
  readonly os: 'windows' | 'linux';
  /** undefined on Linux. */
  readonly build?: string;
  /** One or two nodes: flows between hosts need no more. */
  readonly nodes: readonly NodeView[];
}

/** The groups to test, and the Linux nodes that help. */
export interface SelftestPlan {
  readonly groups: readonly Group[];
  /** Linux nodes for the pods to which tested pods connect: at most two. */
  readonly linux: readonly NodeView[];
}

const BUILD = 'node.kubernetes.io/windows-build';
const AT_MOST = 2;

const osOf = ({ labels }: NodeView): string => labels['kubernetes.io/os'] ?? 'linux';

/** True if pods of the selftest can start on the node: it is ready, not cordoned, and has no taint but `os`. */
const isUsable = (node: NodeView): boolean =>
  node.ready &&
  !node.unschedulable &&
  !node.taints.some(({ key, effect }) => effect !== 'PreferNoSchedule' && key !== 'os');

/** Groups the Windows nodes of the cluster by build. `linux`: groups the Linux nodes, to test the selftest itself. */
export function selftestPlan({ nodes }: ClusterUp, os: 'windows' | 'linux'): SelftestPlan {
  const linux = nodes.filter((node) => osOf(node) === 'linux' && isUsable(node)).slice(0, AT_MOST);
  if (os === 'linux')
    return { linux, groups: linux.length === 0 ? [] : [{ about: 'linux', os: 'linux', nodes: linux }] };
  const windows = nodes.filter((node) => osOf(node) === 'windows' && isUsable(node));
  const builds = [...new Set(windows.map(({ labels }) => labels[BUILD] ?? 'unknown'))].sort();
  return {
    linux,
    groups: builds.map((build) => ({
      about: `windows ${build}`,
      os: 'windows',
      build,
      nodes: windows.filter(({ labels }) => (labels[BUILD] ?? 'unknown') === build).slice(0, AT_MOST),
    })),
  };
}
