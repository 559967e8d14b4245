import { parse } from 'yaml';
import { UsageError } from '../errors.ts';
import { defaultPlugin } from '../network/plugins.value.ts';
import { familiesIn, type Family, isIP } from '../inventory/addresses.ts';
import { DEFAULT_SUBNETS } from './init-networks.ts';

/** A host as `kbuild init` knows it. */
export interface SkeletonHost {
  readonly name: string;
  readonly address: string;
  readonly internalAddress?: string;
  readonly role: 'control-plane' | 'worker';
  /** Of its own, where `Answers.user` is not the same for all. */
  readonly user?: string;
  readonly port?: number;
}

/** The operator's answers to `kbuild init`. */
export interface Answers {
  readonly name: string;
  readonly version: string;
  readonly endpoint?: string;
  /** A free address for keepalived on the control planes: the endpoint is there. */
  readonly virtualAddress?: string;
  /** undefined: as ~/.ssh/config says, else root. */
  readonly user?: string;
  readonly identityFile?: string;
  readonly hosts: readonly SkeletonHost[];
  /** Of the addresses of the cluster, the primary one first; undefined: IPv4 alone. */
  readonly families?: readonly Family[];
  /** Where kbuild's own defaults overlap with networks of the hosts, or are of another family. */
  readonly podSubnet?: string;
  readonly serviceSubnet?: string;
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

function hostLine({ name, address, internalAddress, role, user, port }: SkeletonHost, alone: boolean): string {
  const ssh = [
    ...(user === undefined ? [] : [`user: ${scalar(user)}`]),
    ...(port === undefined ? [] : [`port: ${String(port)}`]),
  ];
  const fields = [
    ['name', name],
    ['address', address],
    ...(internalAddress === undefined ? [] : [['internalAddress', internalAddress]]),
    ['role', role],
  ].map(([key, value]) => `${key!}: ${scalar(value!)}`);
  if (alone) fields.push('taints: []');
  if (ssh.length > 0) fields.push(`ssh: { ${ssh.join(', ')} }`);
  return `  - { ${fields.join(', ')} }`;
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
  const areMany = hosts.filter(({ role }) => role === 'control-plane').length > 1;
  if (areMany && endpoint === undefined)
    return [
      'loadBalancer:',
      '  # haproxy on every node leads it to the API servers: the endpoint is 127.0.0.1:7443 there. Users reach a control plane',
      '  # at its address. `kbuild move-endpoint` leads the cluster to an address of its own later.',
      '  kind: local',
      '',
    ];
  if (areMany) return [];
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

/** Why the networks of these families stand in the file. */
const WHY_NOT_DEFAULT: Readonly<Record<string, string>> = {
  IPv4: 'networks of the hosts overlap with a default',
  IPv6: 'IPv6 alone',
  'IPv4,IPv6': 'both families, IPv4 first',
  'IPv6,IPv4': 'both families, IPv6 first',
};

function networkLine({ podSubnet, serviceSubnet }: Answers): string {
  const pods = podSubnet ?? DEFAULT_SUBNETS.podSubnet;
  const services = serviceSubnet ?? DEFAULT_SUBNETS.serviceSubnet;
  return podSubnet === undefined && serviceSubnet === undefined
    ? `# network: { plugin: ${defaultPlugin.name}, podSubnet: ${pods}, serviceSubnet: ${services} }   # the defaults`
    : `network: { podSubnet: ${scalar(pods)}, serviceSubnet: ${scalar(services)} } # ${WHY_NOT_DEFAULT[familiesIn(pods).join()]!}`;
}

function sshLines({ user, identityFile }: Answers): readonly string[] {
  const key = '# identityFile: ~/.ssh/id_ed25519   # default: the agent at $SSH_AUTH_SOCK';
  const own = '# user: admin   # default: as ~/.ssh/config says, else root; another user than root needs sudo';
  if (user === undefined && identityFile === undefined) return ['# ssh:', `#   ${own.slice(2)}`, `#   ${key.slice(2)}`];
  return [
    'ssh:',
    user === undefined
      ? `  ${own}`
      : `  user: ${scalar(user)} # another user than root needs sudo; its password is asked for once`,
    identityFile === undefined ? `  ${key}` : `  identityFile: ${scalar(identityFile)}`,
  ];
}

/** An inventory with comments, from a few answers. Pure; loading the result validates the answers. */
export function skeleton(answers: Answers): string {
  const { name, version, hosts } = answers;
  // Where every host is a control plane, no other could run pods.
  const alone = hosts.every(({ role }) => role === 'control-plane');
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
    networkLine(answers),
    '# runtime: { cgroupDriver: systemd }                                                    # the default',
    '# proxy: { http: "http://proxy.example.com:3128" }    # outbound; what must not use it is added by kbuild',
    '# kubelet: { config: { maxPods: 200 } }               # for all; also under a host, and under roles',
    '',
    ...sshLines(answers),
    '',
    'hosts:',
    '  # address: where SSH connects. internalAddress: where Kubernetes listens, if that is another one.',
    ...(alone ? ['  # An empty list of taints: pods of users may run on control planes.'] : []),
    ...hosts.map((host) => hostLine(host, alone)),
    '',
  ].join('\n');
}

/** A host as the operator writes it: as ssh knows it, with a name and the address of the cluster's network if need be. */
interface WrittenHost {
  readonly name?: string;
  readonly user?: string;
  readonly address: string;
  readonly port?: number;
  readonly internalAddress?: string;
}

/** How hosts are written, for questions and remedies. */
export const HOST_FORM = '[name=][user@]address[:port][/internalAddress]';

/** Reads a host as `HOST_FORM` shows it. @throws UsageError */
export function parseHost(text: string): WrittenHost {
  const fail = (): never => {
    throw new UsageError(`"${text}" is no host`, { remedy: `write ${HOST_FORM}, e.g. root@10.0.0.11` });
  };
  const form = /^(?:([^=@/]*)=)?(?:ssh:\/\/)?(?:([^@/]*)@)?([^=@/]+)(?:\/(.+))?$/;
  const [, name, user, place = fail(), internalAddress] = form.exec(text.trim()) ?? [];
  // An IPv6 address has colons of its own.
  const [, address = place, digits] = isIP(place) === 0 ? (/^\[?([^\]]+?)\]?:(\d+)$/.exec(place) ?? []) : [];
  const port = digits === undefined ? undefined : Number(digits);
  if (name === '' || user === '' || (port !== undefined && (port === 0 || port > 65_535))) fail();
  return {
    ...(name === undefined ? {} : { name }),
    ...(user === undefined ? {} : { user }),
    address,
    ...(port === undefined || port === 22 ? {} : { port }),
    ...(internalAddress === undefined ? {} : { internalAddress }),
  };
}

/** `a.example.com` → `a`: what a host that is written by name is called. undefined for an address. */
const ownLabel = ({ address }: WrittenHost): string | undefined =>
  isIP(address) === 0 ? address.split('.', 1)[0] : undefined;

/**
 * Hosts of a role with a name each: the given one, else the first label of a DNS name or name of ~/.ssh/config if
 * `byAddress`, else the role and a number.
 */
export function hostsOf(
  written: readonly WrittenHost[],
  role: SkeletonHost['role'],
  byAddress = false,
): readonly SkeletonHost[] {
  const labels = written.map(ownLabel);
  return written.map(({ name, ...host }, i) => {
    const label = byAddress && labels.indexOf(labels[i]) === labels.lastIndexOf(labels[i]) ? labels[i] : undefined;
    return { name: name ?? label ?? `${role === 'worker' ? 'w' : 'cp'}${i + 1}`, ...host, role };
  });
}

/**
 * The first hosts as control planes, the others as workers, and what they have in common: one user becomes the user of
 * all.
 */
export function topology(written: readonly WrittenHost[], controlPlanes: number): Pick<Answers, 'user' | 'hosts'> {
  const hosts = [
    ...hostsOf(written.slice(0, controlPlanes), 'control-plane', true),
    ...hostsOf(written.slice(controlPlanes), 'worker', true),
  ];
  const user = hosts[0]?.user;
  if (user === undefined || hosts.some((host) => host.user !== user)) return { hosts };
  return { user, hosts: hosts.map(({ user: _same, ...host }) => host) };
}
