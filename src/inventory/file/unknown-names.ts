import { nearest } from '../../shell/text.ts';

/** Where the documents of a kubeadm file stand, by their kind and by some of their fields. */
const OF_KUBEADM: Readonly<Record<string, readonly string[]>> = {
  'kubeadm.cluster': [
    ...['Cluster', 'cluster'].map((kind) => `${kind}Configuration`),
    'apiServer',
    'controllerManager',
  ],
  'kubeadm.init': ['InitConfiguration', 'initConfiguration'],
  'kubeadm.join': ['JoinConfiguration', 'joinConfiguration'],
  'kubeadm.kubeProxy': ['KubeProxyConfiguration', 'kubeProxyConfiguration'],
  'kubelet.config': ['KubeletConfiguration', 'kubeletConfiguration'],
};

/** Names of other tools (kubespray, k0sctl, KubeOne, Cluster API, ansible, ssh) for settings, and where these are. */
const ELSEWHERE: Readonly<Record<string, string>> = {
  addons: 'Helm charts are in `charts`, files and URLs of objects in `manifests`',
  ansible_host: 'the address of a host is `address`',
  ansible_user: 'the user is `ssh: { user: NAME }`, for all hosts or for one',
  access_ip: 'write `internalAddress`',
  ansible_port: 'the port is `ssh: { port: NUMBER }`, for all hosts or for one',
  apiEndpoint: 'write kubernetes: { endpoint: "host:port" }',
  apiVersion: 'a kbuild inventory is no Kubernetes object: remove it',
  charts:
    "a chart is the whole cluster's: write it in `charts` at the top; on which nodes its pods run is said by its " +
    'values (nodeSelector, tolerations)',
  clusterName: 'write `name`',
  cni: 'the network plugin is `network: { plugin: NAME }`',
  controlPlane: 'write each control plane in `hosts`, with `role: control-plane`',
  cgroupDriver: 'write kubelet: { config: { cgroupDriver: NAME } }',
  containerRuntime: 'write runtime: { name: NAME }',
  controlPlaneEndpoint: 'write kubernetes: { endpoint: "host:port" }',
  controlPlanes: 'write each control plane in `hosts`, with `role: control-plane`',
  featureGates:
    'those of the kubelet are in `kubelet.config`, those of the control plane extraArgs in `kubeadm.cluster`',
  helm: 'Helm charts are in `charts`',
  hostname: 'write `name`; kbuild sets it as the hostname with `setHostname: true`',
  identityFile: 'the key is `ssh: { identityFile: PATH }`, for all hosts or for one',
  include: 'an inventory is one file: let your own tool join the parts',
  ip: 'write `address`',
  ingress: 'Helm charts are in `charts`, files and URLs of objects in `manifests`',
  internal_ip: 'write `internalAddress`',
  key: 'the key is `ssh: { identityFile: PATH }`, for all hosts or for one',
  keyPath: 'the key is `ssh: { identityFile: PATH }`, for all hosts or for one',
  kind: 'a kbuild inventory is no Kubernetes object: remove it',
  kube_network_plugin: 'the network plugin is `network: { plugin: NAME }`',
  kube_version: 'write kubernetes: { version: "1.36.3" }',
  kubernetesVersion: 'write kubernetes: { version: "1.36.3" }',
  machines: 'write `hosts`',
  masters: 'write each control plane in `hosts`, with `role: control-plane`',
  maxPods: 'write kubelet: { config: { maxPods: NUMBER } }',
  metadata: 'a kbuild inventory is no Kubernetes object: the name of the cluster is `name`',
  nodes: 'write `hosts`',
  password:
    'kbuild logs in with keys: `ssh: { identityFile: PATH }`, or an SSH agent; the password of sudo is `sudoPassword`',
  podCIDR: 'write network: { podSubnet: CIDR }',
  podNetworkCidr: 'write network: { podSubnet: CIDR }',
  podSubnet: 'write network: { podSubnet: CIDR }',
  port: 'the port is `ssh: { port: NUMBER }`, for all hosts or for one',
  privateAddress: 'write `internalAddress`',
  privateKey: 'the key is `ssh: { identityFile: PATH }`, for all hosts or for one',
  proxyJump: 'write `bastion`',
  publicAddress: 'write `address`',
  roles: 'write `role`: one of control-plane, worker, etcd, load-balancer',
  serviceCIDR: 'write network: { serviceSubnet: CIDR }',
  serviceSubnet: 'write network: { serviceSubnet: CIDR }',
  sops:
    'an encrypted file is decrypted first: `sops -d inventory.yaml | kbuild validate -`; or keep secrets alone ' +
    'in it: `command:sops -d …`',
  spec: 'a kbuild inventory is no Kubernetes object: what is in it stands at the top',
  sshKey: 'the key is `ssh: { identityFile: PATH }`, for all hosts or for one',
  sshUser: 'the user is `ssh: { user: NAME }`, for all hosts or for one',
  staticWorkers: 'write each worker in `hosts`, with `role: worker`',
  storage: 'Helm charts are in `charts`, files and URLs of objects in `manifests`',
  url: 'write `source`',
  user: 'the user is `ssh: { user: NAME }`, for all hosts or for one',
  username: 'the user is `ssh: { user: NAME }`, for all hosts or for one',
  vars: 'kbuild replaces no variables: write the values',
  versions: 'write kubernetes: { version: "1.36.3" }',
  workers: 'write each worker in `hosts`, with `role: worker`',
  ...Object.fromEntries(
    Object.entries(OF_KUBEADM).flatMap(([place, names]) =>
      names.map((name) => [name, `kubeadm's own files have it; here it belongs in \`${place}\``] as const),
    ),
  ),
};

/** The same for names that mean something else below other settings. */
const AT_THE_TOP: Readonly<Record<string, string>> = {
  all: 'an inventory of ansible is another one: write `hosts`, a list',
  extraArgs: 'those of the kubelet are in `kubelet.extraArgs`, those of the control plane in `kubeadm.cluster`',
  plugins: 'the network plugin is `network: { plugin: NAME }`',
  registries: 'write runtime: { registries: [{ host: NAME, mirrors: [URL] }] }',
  taints: 'they stand at a host or in a group',
  version: 'write kubernetes: { version: "1.36.3" }',
};

/** Settings that a message lists at most: more are no help. */
const LISTED = 12;

/** The setting that an unknown name stands for: it is there, under a wrong name. */
export function meantSetting(name: string, known: readonly string[]): string | undefined {
  const elsewhere = Object.hasOwn(ELSEWHERE, name) ? /^write `(\w+)`/.exec(ELSEWHERE[name]!)?.[1] : undefined;
  return elsewhere ?? nearest(name, known);
}

/** The message for an unknown setting. `place`: the settings above it. */
export function unknownSetting(name: string, known: readonly string[], place = ''): string {
  const table = place === '' && Object.hasOwn(AT_THE_TOP, name) ? AT_THE_TOP : ELSEWHERE;
  const elsewhere = Object.hasOwn(table, name) && !known.includes(name) ? table[name] : undefined;
  if (elsewhere !== undefined) return `unknown setting ${JSON.stringify(name)}; ${elsewhere}`;
  const meant = nearest(name, known);
  const shown = name.length > 64 ? `${name.slice(0, 61)}...` : name;
  return meant === undefined
    ? `unknown setting ${JSON.stringify(shown)}; ` +
        (known.length <= LISTED
          ? `allowed here: ${known.join(', ')}`
          : `\`kbuild explain${place === '' ? '' : ` ${place}`}\` lists the settings that are allowed here`)
    : `unknown setting ${JSON.stringify(shown)}; did you mean "${meant}"?`;
}

/** The message for an unknown check, with the nearest of the `known` names. */
export function unknownCheck(name: string, known: readonly string[]): string {
  const meant = nearest(name, known);
  return (
    `there is no check ${JSON.stringify(name)}; ` +
    (meant === undefined ? '`kbuild explain check` lists them' : `did you mean "${meant}"?`)
  );
}
