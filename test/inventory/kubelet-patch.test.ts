import { expect, test } from 'vitest';
import { problemsOf } from './load.ts';

const TEXT = `name: prod
kubernetes: { version: "1.36.3" }
kubeadm: { patches: patches }
hosts: [{ name: cp1, address: 10.0.0.11, role: control-plane }]
`;

const patched = (content: string, name = 'kubeletconfiguration0+merge.yaml'): Promise<readonly string[]> =>
  problemsOf(TEXT, { [`patches/${name}`]: content });

test('a field that the kubelet has not is refused in a patch of its configuration, by file and field', async () => {
  expect(await patched('maxPod: 50\nevictionHard: [a]\n')).toEqual([
    expect.stringMatching(/^3:.*kubeletconfiguration0\+merge\.yaml: maxPod: .*did you mean maxPods\?/),
    expect.stringMatching(/evictionHard: must be a mapping/),
  ]);
});

test('a right patch, a JSON patch and a patch of a pod are taken', async () => {
  expect(await patched('apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\nmaxPods: 50\n')).toEqual(
    [],
  );
  expect(await patched('- { op: add, path: /maxPods, value: 50 }\n', 'kubeletconfiguration+json.yaml')).toEqual([]);
  expect(await patched('spec: { priority: 1 }\n', 'kube-apiserver0+merge.yaml')).toEqual([]);
});

test.each([
  [
    'kube-apiserver0+merge.yaml',
    'containers: []\n',
    /containers: a Pod has no such field; did you mean spec\.containers\?/,
  ],
  [
    'kube-apiserver0+merge.yaml',
    'spec: { containers: [{ name: kube-apiserver, resources: {} }] }\n',
    /spec\.containers\[0\]: a merge patch replaces the whole list/,
  ],
  ['etcd.yaml', 'spec: { containers: [{ resources: {} }] }\n', /needs the name of the container/],
  [
    'kube-scheduler+json.yaml',
    '- { op: add, path: /spec/containers/0/command/-, value: --no-such-flag=1 }\n',
    /kube-scheduler of Kubernetes 1\.36 has no flag --no-such-flag/,
  ],
  ['etcd.yaml', 'spec: text\n---\n- 1\n', /spec: must be a mapping of settings/],
  ['etcd.yaml', 'spec: { maxPod: 1 }\n', /spec\.maxPod: there is no such field/],
  [
    'kube-apiserver.yaml',
    'spec: { containers: [{ name: kube-apiserver, resource: {} }] }\n',
    /spec\.containers\[0\]\.resource: there is no such field; did you mean resources\?/,
  ],
  [
    'kube-apiserver.yaml',
    'spec: { containers: [{ name: kube-apiserver, livenessProbe: { failureThreshold: "8" } }] }\n',
    /livenessProbe\.failureThreshold: must be a whole number: remove the quotes: 8/,
  ],
  [
    'corednsdeployment.yaml',
    'spec: { template: { spec: { nodeSelectors: { a: b } } } }\n',
    /spec\.template\.spec\.nodeSelectors: there is no such field; did you mean nodeSelector\?/,
  ],
])('a patch of a pod that cannot work is refused: %s %s', async (name, content, message) => {
  expect(await patched(content, name)).toEqual([expect.stringMatching(message)]);
});

test.each([
  ['kube-apiserver.yaml', 'spec: { containers: [{ name: kube-apiserver, resources: { requests: { cpu: 1 } } }] }\n'],
  ['kube-apiserver+json.yaml', '- { op: add, path: /spec/containers/0/command/-, value: --profiling=false }\n'],
  [
    'kube-apiserver.yaml',
    'spec: { $setElementOrder/volumes: [], volumes: [{ $patch: delete, name: a }, { name: b, emptyDir: { medium: HugePages-2Mi } }] }\n',
  ],
  [
    'kube-apiserver.yaml',
    'spec: { containers: [{ name: kube-apiserver, livenessProbe: { httpGet: { port: probe-port } }, image: null }] }\n',
  ],
  ['corednsdeployment.yaml', 'spec: { replicas: 3, template: { spec: { tolerations: [{ operator: Exists }] } } }\n'],
  ['etcd+merge.yaml', 'metadata: { annotations: { a: --b } }\nspec: { priority: 1 }\n'],
])('a patch of a pod that works is taken: %s %s', async (name, content) => {
  expect(await patched(content, name)).toEqual([]);
});

test.each([
  [
    'kube-apiserver+json.yaml',
    '- { op: add, path: /spec/containers/0/command/-, value: --secure-port=8443 }\n',
    /--secure-port is set by kbuild: it follows kubernetes\.endpoint/,
  ],
  [
    'kube-controller-manager+json.json',
    '[{"op":"add","path":"/spec/containers/0/command/-","value":"--allocate-node-cidrs=false"}]',
    /--allocate-node-cidrs must be true/,
  ],
  [
    'etcd+json.yaml',
    '- { op: add, path: /spec/containers/0/args, value: [--initial-cluster-state=new] }\n',
    /--initial-cluster-state is set by kbuild/,
  ],
  [
    'kube-apiserver+json.yaml',
    '- { op: replace, path: /spec/containers/0/command/3, value: --profiling=false }\n',
    /replace \/spec\/containers\/0\/command\/3: takes arguments away .*use extraArgs/,
  ],
  ['etcd+json.yaml', '- { op: remove, path: /spec/containers/0 }\n', /takes arguments away/],
  [
    'kube-scheduler+json.yaml',
    '- { op: move, from: /spec/containers/0/command/1, path: /spec/containers/0/command/- }\n',
    /remove \/spec\/containers\/0\/command\/1: takes arguments away/,
  ],
  [
    'kube-apiserver.yaml',
    'spec: { containers: [{ name: kube-apiserver, args: [--advertise-address=10.9.9.9] }] }\n',
    /--advertise-address is set by kbuild: use internalAddress/,
  ],
  [
    'kube-apiserver.yaml',
    'spec: { containers: [{ name: kube-apiserver, command: [kube-apiserver] }] }\n',
    /command: a patch replaces the whole list, .*kube-apiserver\+json\.yaml/,
  ],
  [
    'kubeletconfiguration+json.yaml',
    '- { op: replace, path: /cgroupDriver, value: cgroupfs }\n',
    /use runtime\.cgroupDriver/,
  ],
  ['kubeletconfiguration.yaml', 'staticPodPath: /etc/pods\n', /staticPodPath: is set by kbuild: kubeadm needs/],
])('a patch of what kbuild sets is refused, of whatever kind it is: %s %s', async (name, content, message) => {
  expect(await patched(content, name)).toEqual([expect.stringMatching(message)]);
});

test.each([
  ['kube-apiserver+json.yaml', '- { op: add, path: /spec/containers/0/command/1, value: --profiling=false }\n'],
  ['kube-apiserver+json.yaml', '- { op: test, path: /spec/containers/0/command/0, value: kube-apiserver }\n'],
  ['kube-apiserver+json.yaml', '- { op: add, path: /spec/containers/0/env, value: [{ name: GOGC, value: "80" }] }\n'],
  ['etcd+json.yaml', '- { op: add, path: /spec/containers/-, value: { name: own, image: a, command: [b] } }\n'],
  ['etcd.yaml', 'spec: { containers: [{ name: own, image: a, command: [b, -c] }] }\n'],
  ['kubeletconfiguration+json.yaml', '- { op: add, path: /evictionHard/memory.available, value: 100Mi }\n'],
])('a patch that leaves the arguments alone which kbuild sets is taken: %s %s', async (name, content) => {
  expect(await patched(content, name)).toEqual([]);
});

test('a network of the user may have no part of the pods of each node, also by a patch', async () => {
  const own = TEXT.replace('hosts:', 'network: { plugin: none }\nhosts:');
  const patch = '- { op: add, path: /spec/containers/0/command/-, value: --allocate-node-cidrs=false }\n';
  expect(await problemsOf(own, { 'patches/kube-controller-manager+json.yaml': patch })).toEqual([]);
});
