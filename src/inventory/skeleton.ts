import { parse } from 'yaml';
import { defaultPlugin } from '../components/network-plugins/index.ts';

/** A host as `kbuild init` knows it. */
export interface SkeletonHost {
  readonly name: string;
  readonly address: string;
  readonly internalAddress?: string;
  readonly role: 'control-plane' | 'worker';
}

/** The operator's answers to `kbuild init`. */
export interface Answers {
  readonly name: string;
  readonly version: string;
  readonly endpoint?: string;
  /** A free address for keepalived on the control planes: the endpoint is there. */
  readonly virtualAddress?: string;
  readonly user: string;
  readonly identityFile?: string;
  readonly hosts: readonly SkeletonHost[];
}

/** The file beside an inventory by which editors complete it. */
export const SCHEMA_FILE = 'inventory.schema.json';

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
    ? []
    : ['  # Where kubelets and users reach the API.', `  endpoint: ${scalar(endpoint)}`];
}

/**
 * The load balancer of the skeleton. A cluster that may grow to several control planes with keepalived on them needs it
 * from the first control plane on: haproxy cannot use the port of the API servers, and the endpoint cannot change
 * later.
 */
function balancerLines({ endpoint, virtualAddress, hosts }: Answers): readonly string[] {
  if (virtualAddress !== undefined)
    return [
      'loadBalancer:',
      '  # haproxy and keepalived on the control planes. The endpoint is this address, port 8443: it moves when one of them dies.',
      '  kind: keepalived',
      `  address: ${scalar(virtualAddress)}`,
      '',
    ];
  if (hosts.filter(({ role }) => role === 'control-plane').length > 1) return [];
  const grows =
    endpoint === undefined
      ? [
          '# The API is at the address of the one control plane: this cluster can get a second one only after `kbuild',
          '# move-endpoint`. If it may grow, give it an address that belongs to no host before it is built:',
        ]
      : [
          '# This endpoint can lead to a load balancer of your own later, or to hosts of role load-balancer. For keepalived on the',
          '# control planes themselves, take this instead of the endpoint before the cluster is built (later: `kbuild move-endpoint`):',
        ];
  return [...grows, "# loadBalancer: { kind: keepalived, address: 192.0.2.100 }   # free, in the hosts' network", ''];
}

/** An inventory with comments, from a few answers. Pure; loading the result validates the answers. */
export function skeleton(answers: Answers): string {
  const { name, version, user, identityFile, hosts } = answers;
  const alone = hosts.length === 1;
  return [
    // Editors look for it in the first line.
    `# yaml-language-server: $schema=${SCHEMA_FILE}`,
    '# What the cluster should be. "kbuild validate" checks this file, "kbuild plan" shows what would be done,',
    `# "kbuild up" does it, "kbuild explain" explains it. "kbuild schema > ${SCHEMA_FILE}" writes the schema for editors.`,
    `name: ${scalar(name)}`,
    '',
    'kubernetes:',
    `  version: ${JSON.stringify(version)} # exact, in quotes`,
    ...endpointLines(answers),
    '',
    ...balancerLines(answers),
    `# network: { plugin: ${defaultPlugin.name}, podSubnet: 10.244.0.0/16, serviceSubnet: 10.96.0.0/12 }   # the defaults`,
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
