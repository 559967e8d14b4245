import { parse } from 'yaml';

/** A host as `kbuild init` knows it. */
export interface SkeletonHost {
  readonly name: string;
  readonly address: string;
  readonly internalAddress?: string;
  readonly role: 'control-plane' | 'worker';
}

/** What `kbuild init` asks. */
export interface Answers {
  readonly name: string;
  readonly version: string;
  readonly endpoint?: string;
  readonly user: string;
  readonly identityFile?: string;
  readonly hosts: readonly SkeletonHost[];
}

/** The text as YAML reads it back: plain where it can be, else in quotes. */
function scalar(text: string): string {
  try {
    const read = parse(`[${text}]`) as unknown;
    if (Array.isArray(read) && read.length === 1 && read[0] === text) return text;
  } catch {
    // No YAML without quotes.
  }
  return JSON.stringify(text);
}

function hostLine({ name, address, internalAddress, role }: SkeletonHost, alone: boolean): string {
  const fields = [
    ['name', name],
    ['address', address],
    ...(internalAddress === undefined ? [] : [['internalAddress', internalAddress]]),
    ['role', role],
  ].map(([key, value]) => `${key!}: ${scalar(value!)}`);
  return `  - { ${[...fields, ...(alone ? ['taints: []'] : [])].join(', ')} }`;
}

function endpointLines({ endpoint }: Answers): readonly string[] {
  return endpoint === undefined
    ? [
        '  # host:port that stays when hosts come and go: a name, or a load balancer. Without it the cluster can never get a',
        '  # second control plane. With endpointInHosts the name needs no DNS on the hosts.',
        '  # endpoint: k8s.example.com:6443',
        '  # endpointInHosts: true',
      ]
    : ['  # Where kubelets and users reach the API.', `  endpoint: ${scalar(endpoint)}`];
}

/** A commented inventory from a few answers. Pure; whether the answers are allowed, loading it tells. */
export function skeleton(answers: Answers): string {
  const { name, version, user, identityFile, hosts } = answers;
  const alone = hosts.length === 1;
  return [
    '# What the cluster should be. "kbuild validate" checks this file, "kbuild plan" shows what would be done,',
    '# "kbuild up" does it. Editors complete it with the schema that "kbuild schema > inventory.schema.json" writes:',
    '# yaml-language-server: $schema=inventory.schema.json',
    `name: ${scalar(name)}`,
    '',
    'kubernetes:',
    `  version: ${JSON.stringify(version)} # exact, in quotes`,
    ...endpointLines(answers),
    '',
    '# network: { plugin: flannel, podSubnet: 10.244.0.0/16, serviceSubnet: 10.96.0.0/12 }   # the defaults',
    '# runtime: { cgroupDriver: systemd }                                                    # the default',
    '# proxy: { http: "http://proxy.example.com:3128" }    # outbound; what must not use it is added by kbuild',
    '# kubelet: { config: { maxPods: 200 } }               # for all; also under a host, and under roles',
    '',
    'ssh:',
    `  user: ${scalar(user)} # another user than root needs sudo; its password is asked for once`,
    identityFile === undefined
      ? '  # identityFile: ~/.ssh/id_ed25519   # default: the agent at $SSH_AUTH_SOCK'
      : `  identityFile: ${scalar(identityFile)}`,
    '',
    'hosts:',
    '  # address: where SSH connects. internalAddress: where Kubernetes listens, if that is another one.',
    ...(alone ? ['  # An empty list of taints: pods of users may run on this control plane.'] : []),
    ...hosts.map((host) => hostLine(host, alone)),
    '',
  ].join('\n');
}
