/**
 * What kubeadm's own end-to-end tests expect of a cluster (kubernetes `test/e2e_kubeadm`): ConfigMaps, roles and their bindings, who
 * may read what, addons, nodes. Left out: a bootstrap token and what needs one (kbuild deletes each after its join), the Secret
 * kubeadm-certs (likewise), and the annotation of the socket (since 1.34 it is in a file of each host).
 */
import { kubectl } from './pods.ts';

const BOOTSTRAP = 'system:bootstrappers:kubeadm:default-node-token';
const NODES = 'system:nodes';

/** Objects that exist: namespace (`-`: none), kind, name, and for some a part that is not empty, as a JSON path. */
const OBJECTS: readonly (readonly [namespace: string, kind: string, name: string, part?: string])[] = [
  ['kube-public', 'configmap', 'cluster-info', '{.data.kubeconfig}'],
  ['kube-public', 'role', 'kubeadm:bootstrap-signer-clusterinfo'],
  ['kube-public', 'rolebinding', 'kubeadm:bootstrap-signer-clusterinfo'],
  ['kube-system', 'configmap', 'kubeadm-config', '{.data.ClusterConfiguration}'],
  ['kube-system', 'role', 'kubeadm:nodes-kubeadm-config'],
  ['kube-system', 'rolebinding', 'kubeadm:nodes-kubeadm-config'],
  ['kube-system', 'configmap', 'kubelet-config', '{.data.kubelet}'],
  ['kube-system', 'role', 'kubeadm:kubelet-config'],
  ['kube-system', 'rolebinding', 'kubeadm:kubelet-config'],
  ['kube-system', 'serviceaccount', 'coredns'],
  ['kube-system', 'configmap', 'coredns', '{.data.Corefile}'],
  ['-', 'clusterrole', 'system:coredns'],
  ['-', 'clusterrolebinding', 'system:coredns'],
  ['kube-system', 'service', 'kube-dns'],
  ['kube-system', 'serviceaccount', 'kube-proxy'],
  ['kube-system', 'configmap', 'kube-proxy', '{.data.config\\.conf}'],
  ['kube-system', 'configmap', 'kube-proxy', '{.data.kubeconfig\\.conf}'],
  ['kube-system', 'role', 'kube-proxy'],
  ['kube-system', 'rolebinding', 'kube-proxy'],
];

/** Parts of objects with the value that they have. */
const VALUES: readonly (readonly [namespace: string, kind: string, name: string, part: string, value: string])[] = [
  ['kube-system', 'deployment', 'coredns', '{.spec.template.spec.serviceAccountName}', 'coredns'],
  ['kube-system', 'daemonset', 'kube-proxy', '{.spec.template.spec.serviceAccountName}', 'kube-proxy'],
  [
    '-',
    'clusterrolebinding',
    'kubeadm:node-proxier',
    '{.roleRef.name} {.subjects[0].name}',
    'system:node-proxier kube-proxy',
  ],
  [
    ...(['-', 'clusterrolebinding', 'kubeadm:kubelet-bootstrap', '{.roleRef.name} {.subjects[0].name}'] as const),
    `system:node-bootstrapper ${BOOTSTRAP}`,
  ],
  [
    ...([
      '-',
      'clusterrolebinding',
      'kubeadm:node-autoapprove-bootstrap',
      '{.roleRef.name} {.subjects[0].name}',
    ] as const),
    `system:certificates.k8s.io:certificatesigningrequests:nodeclient ${BOOTSTRAP}`,
  ],
  [
    '-',
    'clusterrolebinding',
    'kubeadm:node-autoapprove-certificate-rotation',
    '{.roleRef.name} {.subjects[0].name}',
    `system:certificates.k8s.io:certificatesigningrequests:selfnodeclient ${NODES}`,
  ],
];

/** Who may read which ConfigMap: a user with a group, or any user. */
const READERS: readonly (readonly [user: string, group: string, namespace: string, configMap: string])[] = [
  ['system:anonymous', 'system:unauthenticated', 'kube-public', 'cluster-info'],
  ['system:bootstrap:abcdef', BOOTSTRAP, 'kube-system', 'kubeadm-config'],
  ['system:node:any', NODES, 'kube-system', 'kubeadm-config'],
  ['system:bootstrap:abcdef', BOOTSTRAP, 'kube-system', 'kubelet-config'],
  ['system:node:any', NODES, 'kube-system', 'kubelet-config'],
  ['system:bootstrap:abcdef', BOOTSTRAP, 'kube-system', 'kube-proxy'],
];

const inNamespace = (namespace: string): string => (namespace === '-' ? '' : `-n ${namespace} `);

/** What a part of an object is; empty if the object is not there. */
const partOf = (controlPlane: string, namespace: string, kind: string, name: string, part: string): Promise<string> =>
  kubectl(controlPlane, `${inNamespace(namespace)}get ${kind} ${name} --ignore-not-found -o jsonpath='${part}'`);

/** The control planes that lack the label or the taint of kubeadm. */
async function plainControlPlanes(controlPlanes: readonly string[]): Promise<readonly string[]> {
  const { items } = JSON.parse(await kubectl(controlPlanes[0]!, 'get nodes -o json')) as {
    items: {
      metadata: { name: string; labels: Record<string, string> };
      spec: { taints?: { key: string; effect: string }[] };
    }[];
  };
  const key = 'node-role.kubernetes.io/control-plane';
  return controlPlanes.filter((name) => {
    const node = items.find(({ metadata }) => metadata.name === name);
    const isTainted = node?.spec.taints?.some((taint) => taint.key === key && taint.effect === 'NoSchedule') === true;
    return node?.metadata.labels[key] === undefined || !isTainted;
  });
}

/** The expectations that the cluster does not meet, one line each. */
export async function unmetExpectations(controlPlanes: readonly string[]): Promise<readonly string[]> {
  const [first] = controlPlanes;
  const unmet: string[] = [];
  for (const [namespace, kind, name, part = '{.metadata.name}'] of OBJECTS)
    if ((await partOf(first!, namespace, kind, name, part)) === '') unmet.push(`${kind} ${name}: no ${part}`);
  for (const [namespace, kind, name, part, value] of VALUES) {
    const found = await partOf(first!, namespace, kind, name, part);
    if (found !== value) unmet.push(`${kind} ${name}: ${part} is ${found}, not ${value}`);
  }
  for (const [user, group, namespace, name] of READERS) {
    const read = `${inNamespace(namespace)}get configmap ${name} --as ${user} --as-group ${group} -o name`;
    const answer = await kubectl(first!, read).catch((error: unknown) => String(error));
    if (answer.trim() !== `configmap/${name}`) unmet.push(`${user} of ${group} cannot read ${name}: ${answer.trim()}`);
  }
  for (const name of await plainControlPlanes(controlPlanes)) unmet.push(`node ${name}: label or taint is missing`);
  return unmet;
}
