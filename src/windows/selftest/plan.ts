import type { ClusterUp, NodeView } from '../../cluster/fleet/view.ts';
import { CONTROL_PLANE_TAINT, taintId, wantedTaints } from '../../cluster/nodes.ts';
import { WINDOWS_TAINT } from '../../inventory/hosts.ts';
import type { Host, Taint } from '../../inventory/inventory.ts';

/**
 * Result of one flow. `limit`: Windows does not support it (documented). `not-tried`: the cluster lacks what the flow
 * needs.
 */
export type Outcome =
  { readonly result: 'pass' } | { readonly result: 'fail' | 'limit' | 'not-tried'; readonly why: string };

/** One row of the selftest's report. */
export type Row = Outcome & {
  /** The tested group, e.g. `windows 10.0.20348`. */
  readonly about: string;
  /** Title of the flow. */
  readonly flow: string;
};

export const pass: Outcome = { result: 'pass' };

export const fail = (why: string): Outcome => ({ result: 'fail', why });
export const limit = (why: string): Outcome => ({ result: 'limit', why });
export const notTried = (why: string): Outcome => ({ result: 'not-tried', why });

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

/** Taints that keep pods off a node. */
export const blockingTaints = ({ taints }: NodeView): readonly Taint[] =>
  taints.filter(({ effect }) => effect !== 'PreferNoSchedule');

/**
 * True if pods of the selftest can start on the node: it is ready, not cordoned, and has no taint but that of control
 * planes, that of Windows, and those of the inventory. The pods tolerate these.
 */
const isUsable = (hosts: readonly Host[], node: NodeView): boolean => {
  const host = hosts.find(({ name }) => name === node.name);
  const known = new Set(
    [CONTROL_PLANE_TAINT, WINDOWS_TAINT, ...(host === undefined ? [] : wantedTaints(host))].map(taintId),
  );
  return node.ready && !node.unschedulable && blockingTaints(node).every((taint) => known.has(taintId(taint)));
};

/** Nodes with the fewest taints come first: workers before control planes. */
const byTaints = (a: NodeView, b: NodeView): number => blockingTaints(a).length - blockingTaints(b).length;

/** Groups the Windows nodes of the cluster by build. `linux`: groups the Linux nodes, to test the selftest itself. */
export function selftestPlan({ nodes }: ClusterUp, os: 'windows' | 'linux', hosts: readonly Host[]): SelftestPlan {
  const usable = nodes.filter((node) => isUsable(hosts, node));
  const linux = usable
    .filter((node) => osOf(node) === 'linux')
    .toSorted(byTaints)
    .slice(0, AT_MOST);
  if (os === 'linux')
    return { linux, groups: linux.length === 0 ? [] : [{ about: 'linux', os: 'linux', nodes: linux }] };
  const windows = usable.filter((node) => osOf(node) === 'windows');
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
