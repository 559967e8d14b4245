/** What people write first who come from other tools: each message names the line, the cause and what to write instead. */
import { expect, test } from 'vitest';
import { GOOD, load, problemsOf, shown } from './load.ts';

/** The good inventory with a text replaced. */
const but = (from: string, to: string): string => {
  expect(GOOD).toContain(from);
  return GOOD.replace(from, to);
};
const also = (text: string): string => `${GOOD}${text}\n`;

/** The mistake, and the text that has it. */
const MISTAKES: readonly (readonly [string, string])[] = [
  // YAML
  ['a setting that is indented too far', but('    address: 10.0.0.11', '      address: 10.0.0.11')],
  ['a setting that is indented too little', but('    role: worker', '   role: worker')],
  ['a top-level setting that is indented', but('network:', ' network:')],
  ['no blank after the first colon', but('name: prod', 'name:prod')],
  ['no blank after a colon in a list', but('- name: w1', '- name:w1')],
  ['no blank after a colon inside', but('    role: worker', '    role:worker')],
  ['a brace that is not closed', also('ssh: { user: ubuntu')],
  ['a bracket that is not closed', also('ignoreChecks: [swap')],
  ['a quote that is not closed', but('"1.36.3"', '"1.36.3')],
  ['a tab', but('  podSubnet', '\tpodSubnet')],
  ['a variable of a shell', but('10.0.0.21', '${W1_IP}')],
  ['a variable of a shell in braces', also('ssh: { user: ${SSH_USER} }')],
  ['a template', but('10.0.0.21', '{{ w1_ip }}')],
  ['a template in quotes', but('10.0.0.21', '"{{ w1_ip }}"')],
  ['a template of a loop', but('hosts:', '{% for host in hosts %}\nhosts:')],
  ['an anchor', but('name: w1', 'name: &w w1')],
  ['a merge key', but('name: w1', '<<: *defaults')],
  ['two documents', also('---\nname: other')],
  ['a tag of ansible', but('10.0.0.21', '!vault 10.0.0.21')],
  ['a setting twice', also('name: other')],
  ['a line without a colon', but('network:', 'network')],
  ['an @ at the beginning of a value', but('10.0.0.21', '@w1')],
  ['JSON with a comma at its end', '{ "name": "prod", }'],
  ['an empty file', ''],
  ['comments alone', '# nothing yet\n'],
  // settings of other tools
  ...[
    'nodes: [10.0.0.11]',
    'clusterName: prod',
    'kubernetesVersion: 1.36.3',
    'workers: [10.0.0.21]',
    'masters: [10.0.0.11]',
    'addons: [metrics-server]',
    'cni: calico',
    'podSubnet: 10.244.0.0/16',
    'apiVersion: k0sctl.k0sproject.io/v1beta1',
    'kind: Cluster',
    'spec: {}',
    'metadata: { name: prod }',
    'include: other.yaml',
    'vars: {}',
    'sops: {}',
    'user: ubuntu',
    'hostz: []',
    'apiServer: { extraArgs: { profiling: "false" } }',
    'kubeadm: { ClusterConfiguration: {}, KubeletConfiguration: {} }',
    'xyzzy: 1',
  ].map((line): readonly [string, string] => [line, also(line)]),
  ...[
    'user: ubuntu',
    'port: 2222',
    'ip: 10.0.0.21',
    'privateKey: ~/.ssh/id',
    'sshUser: root',
    'hostname: w1',
    'roles: [worker]',
    'privateAddress: 10.0.0.21',
    'ansible_host: 10.0.0.21',
    'adress: 10.0.0.21',
  ].map((line): readonly [string, string] => [`${line} at a host`, also(`    ${line}`)]),
  ['kubelet.maxPods', also('kubelet: { maxPods: 200 }')],
  ['snake_case', but('podSubnet', 'pod_subnet')],
  ['capitals', but('kubernetes:', 'Kubernetes:')],
  // values
  ...['master', 'controlplane', 'node', 'Worker', 'etcd,worker', '[control-plane, etcd]', '""'].map(
    (role): readonly [string, string] => [`role: ${role}`, but('role: worker', `role: ${role}`)],
  ),
  ...['1.36', 'v1.36.3', '"1.36"', '"v1.36.3"', 'latest', '"1.28.0"', '"1.40.0"'].map(
    (version): readonly [string, string] => [`version: ${version}`, but('"1.36.3"', version)],
  ),
  ...[
    'root@10.0.0.21',
    '10.0.0.21:2222',
    '10.0.0.[21:25]',
    '10.0.0.{21..25}',
    '10.0.0.21-25',
    'https://w1.example.com',
    'W1.example.com',
    '10.0.0.11',
    '10.0.0.256',
  ].map((address): readonly [string, string] => [`address: ${address}`, but('10.0.0.21', `"${address}"`)]),
  ...['10.244.1.0/16', '10.244.0.0', '10.96.0.0/16', '10.0.0.0/8', 'fd00::/64', '10.244.0.0/24', 'auto'].map(
    (subnet): readonly [string, string] => [`podSubnet: ${subnet}`, but('10.244.0.0/16', `"${subnet}"`)],
  ),
  ['endpoint with https://', but('k8s.example.com:6443', 'https://k8s.example.com:6443')],
  ['hosts as a mapping', 'name: prod\nkubernetes: { version: "1.36.3" }\nhosts: { cp1: 10.0.0.11 }\n'],
  ['hosts as addresses', 'name: prod\nkubernetes: { version: "1.36.3" }\nhosts: [10.0.0.11]\n'],
  ['no hosts', 'name: prod\nkubernetes: { version: "1.36.3" }\n'],
  ['no name', GOOD.replace('name: prod\n', '')],
  ['no version', 'name: prod\nhosts: [{ name: cp1, address: 10.0.0.11, role: control-plane }]\n'],
  ['a host without a name', but('  - name: w1\n    address', '  - address')],
  ['a host without an address', but('    address: 10.0.0.21\n', '')],
  ['no control plane', but('role: control-plane', 'role: worker')],
  ['two hosts of one name', but('name: w1', 'name: cp1')],
  ['a name with an underscore', but('name: w1', 'name: w_1')],
  ['a name of the cluster in capitals', but('name: prod', 'name: Prod_1')],
  ['a port in quotes', also('ssh: { port: "22" }')],
  ['a port that is none', also('ssh: { port: 70000 }')],
  ['a proxy without its scheme', also('proxy: { http: "proxy:3128" }')],
  ['a network plugin that is not there', also('').replace('network:', 'network:\n  plugin: weave')],
  [
    'a setting of Cilium under the name of other tools',
    also('').replace('network:', 'network:\n  plugin: cilium\n  cilium: { tunnel: vxlan }'),
  ],
  ['labels as a list', also('    labels: [gpu]')],
  ['a taint without an effect', also('    taints: [dedicated]')],
  ['an unknown group', also('    groups: [gpu]')],
  ['an unknown check', also('ignoreChecks: [swpa]')],
  ['yes for true', also('setHostname: yes')],
  // overrides of kubeadm and the kubelet
  ...[
    'kubeadm: { cluster: { apiServer: { extraArgs: { audit-log-maxage: "30" } } } }',
    'kubeadm: { cluster: { apiservr: {} } }',
    'kubeadm: { cluster: { apiServer: { extraArg: [] } } }',
    'kubeadm: { cluster: { networking: { podSubnet: 10.1.0.0/16 } } }',
    'kubeadm: { cluster: { kubernetesVersion: v1.36.3 } }',
    'kubeadm: { kubeProxy: { mode: iptabels } }',
    'kubelet: { config: { maxPods: "200" } }',
    'kubelet: { config: { maxPod: 200 } }',
    'kubelet: { extraArgs: { max-pods: "200" } }',
  ].map((line): readonly [string, string] => [line, also(line)]),
  // what is not there
  ['a variable that is not set', also('ssh: { sudoPassword: env:NO_SUCH_VARIABLE }')],
  ['a password as it is', also('ssh: { sudoPassword: hunter2 }')],
  ['a password to log in with', also('ssh: { password: hunter2 }')],
  ['a file that is not there', also('ssh: { passphrase: "file:no/such/file" }')],
  ['a manifest that is not there', also('manifests: [no-such.yaml]')],
  ['a manifest over http', also('manifests: [{ url: "http://example.com/x.yaml" }]')],
  // topology
  ['podSubnet: 8.8.0.0/16', but('10.244.0.0/16', '"8.8.0.0/16"')],
  ['serviceSubnet: 10.96.0.0/8', but('10.96.0.0/12', '10.96.0.0/8')],
  [
    'three control planes without an endpoint',
    but('role: worker', 'role: control-plane').replace(/ {2}endpoint.*\n/, ''),
  ],
  ['a virtual address that a host has', also('loadBalancer: { kind: keepalived, address: 10.0.0.11 }')],
  ['a load balancer of a kind that is none', also('loadBalancer: { kind: haproxy }')],
  ['metallb as load balancer', also('loadBalancer: metallb')],
  ['an etcd host beside a stacked etcd', but('role: worker', 'role: etcd')],
  ['a Windows control plane', but('role: control-plane', 'role: control-plane\n    os: windows')],
  ['a runtime that is none', also('runtime: { name: podman }')],
  ['the runtime as a word', also('runtime: containerd')],
  ['network as a word', GOOD.replace(/network:\n(?: {2}.*\n)+?hosts/, 'network: flannel\nhosts')],
  ['a label with a blank', also('    labels: { "my disk": ssd }')],
  ['a taint as kubectl writes it', also('    taints: ["gpu=true:NoSchedule"]')],
];

/** The problems of an inventory; where it has none, its warnings. */
async function messagesOf(text: string): Promise<readonly string[]> {
  const problems = await problemsOf(text);
  return problems.length > 0 ? problems : (await load(text)).warnings.map((one) => `warning: ${shown(one)}`);
}

test(`${String(MISTAKES.length)} first mistakes each have a message with the line, the cause and the way to go`, async () => {
  const parts = await Promise.all(
    MISTAKES.map(async ([what, text]) => `${what}\n${(await messagesOf(text)).map((line) => `  ${line}\n`).join('')}`),
  );
  await expect(parts.join('\n')).toMatchFileSnapshot('../golden/first-mistakes.txt');
});
