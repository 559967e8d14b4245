import { FactError } from '../errors.ts';
import { DEFRAGMENT, hasNoSpace } from '../etcd/space.ts';
import type { Inventory } from '../inventory/inventory.ts';
import { docsPage } from '../versions.ts';
import { type ClusterUp, isDnsPod, type NodeView } from './fleet/view.ts';
import { controlPlaneNodes, cordonOwner, taintText, unexpectedTaints } from './nodes.ts';

/** One reason why a cluster is not healthy. */
export interface Problem {
  /** `unknown`: kbuild could not observe a fact. */
  readonly kind: 'cluster' | 'endpoint' | 'api-server' | 'etcd' | 'node' | 'pod' | 'certificate' | 'unknown';
  /** The node, host, member or pod; for a problem of the whole cluster, the cluster's name. */
  readonly name: string;
  readonly message: string;
  readonly remedy?: string;
  /** The name of the refusal of commands that would change it. */
  readonly refusal?: string;
}

const REMEDIES: Readonly<Record<string, string>> = {
  DiskPressure: 'no pods are scheduled there: make room on the disk of the kubelet and of the runtime (df -h)',
  MemoryPressure: 'pods without requests are not scheduled there: find what takes the memory (ps aux --sort -rss)',
  PIDPressure: 'no pods are scheduled there: find what starts so many processes (ps -eLf)',
  NetworkUnavailable: 'see the network plugin: kubectl -A get pods -o wide',
};

/** Problems of one node: bad conditions, a cordon, unexpected taints. */
export function nodeProblems(inventory: Inventory, node: NodeView): readonly Problem[] {
  const { name } = node;
  const host = inventory.hosts.find((candidate) => candidate.name === name);
  const unready = node.conditions.find(({ type }) => type === 'Ready');
  const conditions = node.conditions
    // If a kubelet stops reporting, the controller manager sets all its conditions to Unknown.
    .filter(({ type, status }) => type !== 'Ready' && !(status === 'Unknown' && unready?.status === 'Unknown'))
    .map(({ type, status, reason }) => ({
      message: `has the condition ${type}${status === 'True' ? '' : ` ${status}`} (${reason})`,
      remedy: REMEDIES[type] ?? '',
    }));
  const taints = unexpectedTaints(host, node).map((taint) => ({
    message: `has the taint ${taintText(taint)}, which neither the inventory nor Kubernetes explains`,
    remedy:
      `name it in the inventory (taints), or take it away: kubectl taint nodes ${name} ` +
      `${taint.key}:${taint.effect}-`,
  }));
  return [
    ...(node.ready
      ? []
      : [
          {
            message: `is not Ready (${node.reason})`,
            remedy: `see why on the host: journalctl -u kubelet -n 50; \`kbuild plan\` shows what up would mend`,
          },
        ]),
    ...conditions,
    ...(node.unschedulable
      ? [
          cordonOwner(node) === 'kbuild'
            ? {
                message: 'is cordoned by kbuild: no new pods are scheduled there until that run is through',
                remedy:
                  'if no kbuild works on it now, run the command that drained it again: `kbuild upgrade`, ' +
                  `\`kbuild up\` or \`kbuild remove ${name}\``,
              }
            : {
                message: 'is cordoned: no new pods are scheduled there',
                remedy: `when its maintenance is over: kubectl uncordon ${name}`,
              },
        ]
      : []),
    ...taints,
  ].map((problem) => ({ kind: 'node', name, ...problem }));
}

/**
 * What to do about a member that is not healthy. A join makes the data of a member again, while the others have
 * quorum.
 */
function memberRemedy(name: string, members: ClusterUp['members']): string {
  const voters = members.filter(({ learner }) => !learner);
  const haveQuorum = voters.filter(({ healthy }) => healthy).length > voters.length / 2;
  const log = `see its log on ${name}: crictl ps -a --name etcd, then crictl logs ID`;
  return haveQuorum && name !== ''
    ? `${log}. If its data is damaged or lost: \`kbuild remove ${name}\`, then \`kbuild up\``
    : `${name === '' ? '' : `${log}. `}See ${docsPage('operations.md#recover')}`;
}

function etcdProblems({ name: cluster, members, alarms }: ClusterUp): readonly Problem[] {
  return [
    ...members
      .filter(({ healthy, learner }) => !healthy || learner)
      .map(({ name, id, healthy }) => ({
        kind: 'etcd' as const,
        name: name === '' ? id : name,
        ...(healthy
          ? { message: 'its etcd member is a learner: it does not vote yet' }
          : { message: 'its etcd member is not healthy', remedy: memberRemedy(name, members) }),
      })),
    ...(members.length > 0 && !members.some(({ leader }) => leader)
      ? [{ kind: 'etcd' as const, name: cluster, message: 'etcd has no leader that answers' }]
      : []),
    ...alarms.map((alarm) => ({
      kind: 'etcd' as const,
      name: cluster,
      message: `etcd has an alarm: ${alarm}`,
      remedy: hasNoSpace([alarm]) ? DEFRAGMENT : `see ${docsPage('operations.md#recover')}`,
    })),
  ];
}

/**
 * Problems of API servers on control planes that are nodes. A control plane that has not joined yet is a pending
 * change, not a problem.
 */
function apiServerProblems(cluster: ClusterUp): readonly Problem[] {
  const joined = new Set(controlPlaneNodes(cluster).map(({ name }) => name));
  return [...cluster.apiServers]
    .filter(([name, answer]) => answer !== 'ok' && joined.has(name))
    .map(([name, answer]) => ({
      kind: 'api-server' as const,
      name,
      message: `its API server is not ready: ${answer === '' ? 'no answer within 3 s' : answer}`,
      remedy: `see its log on ${name}: crictl ps -a --name kube-apiserver, then crictl logs ID`,
    }));
}

/** Pods of the control plane and the network that cannot start, and cluster DNS without a ready pod. */
function podProblems({ pods, name: cluster }: ClusterUp): readonly Problem[] {
  const dns = pods.filter(isDnsPod);
  return [
    ...pods
      .filter(({ trouble }) => trouble !== '')
      .map(({ namespace, name, node, trouble }) => ({
        kind: 'pod' as const,
        name: `${namespace}/${name}`,
        message: `${node === '' ? '' : `on ${node}: `}${trouble}`,
        remedy: `kubectl -n ${namespace} describe pod ${name}`,
      })),
    ...(dns.length > 0 && !dns.some(({ ready }) => ready)
      ? [
          {
            kind: 'pod' as const,
            name: cluster,
            message: 'no pod of CoreDNS is ready: names of Services do not resolve',
            remedy: 'kubectl -n kube-system describe pods -l k8s-app=kube-dns',
          },
        ]
      : []),
  ];
}

const PARTS: readonly ((inventory: Inventory, cluster: ClusterUp) => readonly Problem[])[] = [
  ({ endpoint }, cluster) =>
    cluster.endpoint === 'ok'
      ? []
      : [{ kind: 'endpoint', name: endpoint, message: `the API does not serve there: ${cluster.endpoint}` }],
  (_, cluster) => apiServerProblems(cluster),
  (_, cluster) => etcdProblems(cluster),
  (inventory, { nodes }) => nodes.flatMap((node) => nodeProblems(inventory, node)),
  (_, cluster) => podProblems(cluster),
];

/**
 * Why a cluster that answers is not healthy; empty if it is. A fact that kbuild could not observe is a problem of kind
 * `unknown`, not healthy.
 */
export const clusterProblems = (inventory: Inventory, cluster: ClusterUp): readonly Problem[] =>
  PARTS.flatMap((part) => {
    try {
      return part(inventory, cluster);
    } catch (error) {
      if (!(error instanceof FactError)) throw error;
      return [{ kind: 'unknown' as const, name: error.host, message: error.message }];
    }
  });
