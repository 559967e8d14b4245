import type { z } from 'zod';
import { nearest } from '../../shell/text.ts';
import { PROPOSED_KUBERNETES } from '../../versions.ts';
import type { Located } from './document.ts';

type Issue = z.core.$ZodIssue;
type RawIssue = z.core.$ZodRawIssue;

const EXPECTED: Readonly<Record<string, string>> = {
  string: 'text',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  array: 'a list (lines that begin with "- ", or [a, b])',
  object: 'a mapping of settings (name: value)',
  record: 'a mapping (name: value)',
};

const expectation = (expected: string): string => EXPECTED[expected] ?? expected;

function kindOf(value: unknown): string {
  if (Array.isArray(value)) return 'a list';
  if (typeof value === 'object') return 'a mapping';
  if (typeof value === 'string') return 'text';
  return `a ${typeof value}`;
}

/** What most inventories have under a name that is required. */
const EXAMPLES: Readonly<Record<string, string>> = {
  address: 'address: 10.0.0.21',
  hosts: '- { name: cp1, address: 10.0.0.11, role: control-plane }',
  kubernetes: `kubernetes: { version: "${PROPOSED_KUBERNETES}" }`,
  name: 'name: prod',
  source: 'source: https://example.com/objects.yaml',
  version: `version: "${PROPOSED_KUBERNETES}"`,
};

function exampleOf(path: readonly PropertyKey[] | undefined): string {
  const name = String(path?.at(-1) ?? '');
  const example = name === 'name' && path!.length > 1 ? 'name: w1' : EXAMPLES[name];
  return example === undefined ? '' : `, e.g. ${example}`;
}

/** A mapping or a list where people write text, or a mapping; those of a list by the name of the list. */
const FORMS: Readonly<Record<string, string>> = {
  extraArgs: '[{ name: max-pods, value: "200" }]',
  hosts: '{ name: cp1, address: 10.0.0.11, role: control-plane }',
  kubernetes: `{ version: "${PROPOSED_KUBERNETES}" }`,
  labels: '{ disk: ssd }',
  loadBalancer: '{ kind: keepalived, address: 10.0.0.100 }',
  network: '{ plugin: NAME }',
  runtime: '{ name: NAME }',
  ssh: '{ user: admin }',
  taints: '{ key: gpu, value: "true", effect: NoSchedule }',
};

/** The message for a value of the wrong type. */
function typeMessage(expected: string, found: Located): string {
  const { value, source } = found;
  if (value === null) return `has no value; it must be ${expectation(expected)}`;
  if (expected === 'string' && found.path.at(-1) === 'version' && /^\d+\.\d+$/.test(source ?? ''))
    return `must be an exact version of three numbers, in quotes: e.g. "${PROPOSED_KUBERNETES}"`;
  if (expected === 'string' && (typeof value === 'number' || typeof value === 'boolean'))
    return `is a ${typeof value} to YAML, not text: quote it: "${source ?? String(value)}"`;
  if ((expected === 'number' || expected === 'int') && typeof value === 'string' && /^\d+$/.test(value))
    return `must be ${expectation(expected)}: remove the quotes`;
  const form = ['object', 'record', 'array'].includes(expected)
    ? FORMS[String(found.path.findLast((part) => typeof part === 'string'))]
    : undefined;
  return `must be ${expectation(expected)}, not ${kindOf(value)}${
    form === undefined ? '' : `: e.g. ${expected === 'array' && form.startsWith('{') ? `- ${form}` : form}`
  }`;
}

/** What other tools call a value. */
const CALLED: Readonly<Record<string, string>> = {
  agent: 'worker',
  control: 'control-plane',
  controller: 'control-plane',
  controlplane: 'control-plane',
  haproxy: 'load-balancer',
  loadbalancer: 'load-balancer',
  master: 'control-plane',
  node: 'worker',
  server: 'control-plane',
};

function choiceMessage(values: readonly unknown[], value: unknown): string {
  const choices = values.map(String);
  if (Array.isArray(value)) return `must be one of ${choices.join(', ')}, and not a list`;
  const called = typeof value === 'string' ? CALLED[value.toLowerCase()] : undefined;
  if (called !== undefined && choices.includes(called))
    return `${JSON.stringify(value)} is called ${called} here; must be one of ${choices.join(', ')}`;
  const meant = typeof value === 'string' ? nearest(value, choices) : undefined;
  const list = choices.length === 1 ? `must be ${choices[0]!}` : `must be one of ${choices.join(', ')}`;
  return meant === undefined ? list : `${list}; did you mean "${meant}"?`;
}

/**
 * The message of an issue of the schema; undefined leaves it to the format's own. `found` is missing when nothing is
 * there.
 */
export function issueMessage(issue: RawIssue, found: Located | undefined): string | undefined {
  // The formats have messages of their own for the other codes.
  // oxlint-disable-next-line typescript/switch-exhaustiveness-check
  switch (issue.code) {
    case 'invalid_type':
      return found === undefined
        ? `is required: ${expectation(issue.expected)}${exampleOf(issue.path)}`
        : typeMessage(issue.expected, found);
    case 'invalid_value':
      return found === undefined
        ? `is required: one of ${issue.values.join(', ')}`
        : choiceMessage(issue.values, found.value);
    case 'too_small':
      return issue.origin === 'array' ? 'needs at least one entry' : `must be at least ${issue.minimum}`;
    case 'too_big':
      return issue.origin === 'string'
        ? `must be at most ${issue.maximum} characters long`
        : `must be at most ${issue.maximum}`;
    default:
      return undefined;
  }
}

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
  apiEndpoint: 'write kubernetes: { endpoint: "host:port" }',
  apiVersion: 'a kbuild inventory is no Kubernetes object: remove it',
  clusterName: 'write `name`',
  cni: 'the network plugin is `network: { plugin: NAME }`',
  controlPlane: 'write each control plane in `hosts`, with `role: control-plane`',
  controlPlanes: 'write each control plane in `hosts`, with `role: control-plane`',
  hostname: 'write `name`; kbuild sets it as the hostname with `setHostname: true`',
  identityFile: 'the key is `ssh: { identityFile: PATH }`, for all hosts or for one',
  include: 'an inventory is one file: let your own tool join the parts',
  ip: 'write `address`',
  keyPath: 'the key is `ssh: { identityFile: PATH }`, for all hosts or for one',
  kind: 'a kbuild inventory is no Kubernetes object: remove it',
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
  url: 'write `source`',
  user: 'the user is `ssh: { user: NAME }`, for all hosts or for one',
  vars: 'kbuild replaces no variables: write the values',
  versions: 'write kubernetes: { version: "1.36.3" }',
  workers: 'write each worker in `hosts`, with `role: worker`',
  ...Object.fromEntries(
    Object.entries(OF_KUBEADM).flatMap(([place, names]) =>
      names.map((name) => [name, `kubeadm's own files have it; here it belongs in \`${place}\``] as const),
    ),
  ),
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
  const elsewhere = Object.hasOwn(ELSEWHERE, name) && !known.includes(name) ? ELSEWHERE[name] : undefined;
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

/** Of a value that may have several forms: the issue of the form that was tried. */
export function triedForm(issue: Issue): Issue {
  if (issue.code !== 'invalid_union') return issue;
  const forms = issue.errors.filter((errors) => !errors.some((e) => e.code === 'invalid_type' && e.path.length === 0));
  // A form with a setting that it does not have lacks another: the wrong name explains both.
  const inner = forms[0]?.find(({ code }) => code === 'unrecognized_keys') ?? forms[0]?.[0];
  const isNumeric = issue.errors.some((errors) =>
    errors.some((e) => e.code === 'invalid_type' && (e.expected === 'number' || e.expected === 'int')),
  );
  if (inner === undefined)
    return { ...issue, message: isNumeric ? 'must be text or a whole number' : 'must be text or a list of texts' };
  return triedForm({ ...inner, path: [...issue.path, ...inner.path] });
}
