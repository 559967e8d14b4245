import type { ClusterUp, NodeView } from '../../facts/cluster.ts';

/** Nodes that are tested together: those of one build of Windows, or the Linux ones. */
export interface Group {
  /** `windows 10.0.20348`, `linux` */
  readonly about: string;
  readonly os: 'windows' | 'linux';
  /** undefined on Linux. */
  readonly build?: string;
  /** At most two: across hosts needs no more. */
  readonly nodes: readonly NodeView[];
}

/** Who is tested, and by whose help. */
export interface SelftestPlan {
  readonly groups: readonly Group[];
  /** Linux nodes that the tested pods talk to: at most two. */
  readonly linux: readonly NodeView[];
}

const BUILD = 'node.kubernetes.io/windows-build';
const AT_MOST = 2;

const osOf = ({ labels }: NodeView): string => labels['kubernetes.io/os'] ?? 'linux';

/** Nodes on which pods can start: ready, not cordoned, and not kept for the control plane. */
const usable = (node: NodeView): boolean =>
  node.ready &&
  !node.unschedulable &&
  !node.taints.some(({ key, effect }) => effect !== 'PreferNoSchedule' && key !== 'os');

/** The selftest of a cluster: its Windows nodes by build, or its Linux nodes to try the test itself. */
export function selftestPlan({ nodes }: ClusterUp, os: 'windows' | 'linux'): SelftestPlan {
  const linux = nodes.filter((node) => osOf(node) === 'linux' && usable(node)).slice(0, AT_MOST);
  if (os === 'linux')
    return { linux, groups: linux.length === 0 ? [] : [{ about: 'linux', os: 'linux', nodes: linux }] };
  const windows = nodes.filter((node) => osOf(node) === 'windows' && usable(node));
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
