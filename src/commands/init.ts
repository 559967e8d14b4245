import { writeFile } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { parse } from 'yaml';
import { InventoryError, UsageError } from '../errors.ts';
import { loadInventory } from '../inventory/file/load.ts';
import { localSources } from '../inventory/file/sources.ts';
import { editorJsonSchema } from '../inventory/schema/editor.ts';
import { defaultPlugin } from '../network/plugins.value.ts';
import type { Context } from '../session/context.ts';
import { PROPOSED_KUBERNETES } from '../versions.ts';
import { checkNames } from './every.checks.ts';
import type { InitOptions } from './inventory.command.ts';

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

const EXAMPLE = { controlPlane: ['192.0.2.11'], worker: ['192.0.2.21', '192.0.2.22'] } as const;

function host(text: string, role: SkeletonHost['role'], number: number): SkeletonHost {
  const [, name, address, internalAddress] = /^(?:([^=]*)=)?([^=/]+)(?:\/(.+))?$/.exec(text.trim()) ?? [];
  if (address === undefined)
    throw new UsageError(`"${text}" is no host`, { remedy: 'write [name=]address[/internalAddress]' });
  return {
    name: name ?? `${role === 'worker' ? 'w' : 'cp'}${number}`,
    address,
    ...(internalAddress === undefined ? {} : { internalAddress }),
    role,
  };
}

const hostsOf = (controlPlanes: readonly string[], workers: readonly string[]): readonly SkeletonHost[] => [
  ...controlPlanes.map((text, i) => host(text, 'control-plane', i + 1)),
  ...workers.map((text, i) => host(text, 'worker', i + 1)),
];

function answered(flags: InitOptions): Answers {
  const { name, kubernetes, endpoint, virtualAddress, user, identityFile, controlPlane, worker } = flags;
  const hosts =
    controlPlane === undefined && worker === undefined
      ? hostsOf(EXAMPLE.controlPlane, EXAMPLE.worker)
      : hostsOf(controlPlane ?? [], worker ?? []);
  return {
    name: name ?? 'demo',
    version: kubernetes ?? PROPOSED_KUBERNETES,
    ...(endpoint === undefined ? {} : { endpoint }),
    ...(virtualAddress === undefined ? {} : { virtualAddress }),
    user: user ?? 'root',
    ...(identityFile === undefined ? {} : { identityFile }),
    hosts,
  };
}

const words = (text: string): readonly string[] => text.split(/[\s,]+/).filter((word) => word !== '');

async function asked(context: Context): Promise<Answers> {
  const ask = async (question: string, proposal: string): Promise<string> => {
    const answer = (await context.ask(`${question}${proposal === '' ? '' : ` [${proposal}]`}: `)).trim();
    return answer === '' ? proposal : answer;
  };
  const name = await ask('Name of the cluster', 'demo');
  const version = await ask('Kubernetes version', PROPOSED_KUBERNETES);
  context.err('Hosts are written [name=]address[/internalAddress], with blanks between them.\n');
  const controlPlanes = words(await ask('Control planes', EXAMPLE.controlPlane.join(' ')));
  const workers = words(await ask('Workers, or nothing', ''));
  const virtualAddress = await ask(
    'A free address in the network of the control planes, which kbuild moves between them (keepalived), or nothing',
    '',
  );
  const endpoint =
    virtualAddress === ''
      ? await ask(
          controlPlanes.length > 1
            ? 'host:port of the load balancer before the control planes'
            : 'host:port of a load balancer or a name of your own, or nothing for a cluster of one control plane for ever',
          '',
        )
      : '';
  const user = await ask('User for SSH', 'root');
  const identityFile = await ask('Private key, or nothing for the agent', '');
  return {
    name,
    version,
    ...(endpoint === '' ? {} : { endpoint }),
    ...(virtualAddress === '' ? {} : { virtualAddress }),
    user,
    ...(identityFile === '' ? {} : { identityFile }),
    hosts: hostsOf(controlPlanes, workers),
  };
}

const flagged = (flags: InitOptions): boolean =>
  (
    ['name', 'kubernetes', 'endpoint', 'virtualAddress', 'user', 'identityFile', 'controlPlane', 'worker'] as const
  ).some((flag) => flags[flag] !== undefined);

/**
 * Writes the schema of inventories beside a new one, for editors; says so. Draft 7, which every editor knows. One that
 * is there stays, and an inventory without one is as good.
 */
async function schemaBeside(inventory: string): Promise<string> {
  try {
    const text = `${JSON.stringify(editorJsonSchema('7'), undefined, 2)}\n`;
    await writeFile(join(dirname(inventory), SCHEMA_FILE), text, { flag: 'wx' });
    return `, and ${SCHEMA_FILE} for editors`;
  } catch {
    return '';
  }
}

/**
 * `kbuild init [FILE]`: a commented inventory, to stdout or to a new file, then with its schema beside it. Asks
 * questions if there is a terminal and no flag gives an answer. Writes an example if there is neither. @throws
 * UsageError for answers that make no valid inventory.
 */
export async function runInit(context: Context, flags: InitOptions): Promise<number> {
  const text = skeleton(flagged(flags) || !context.canAsk ? answered(flags) : await asked(context));
  const { env, cwd } = context;
  const sources = { ...localSources({ env, cwd, reach: 'local' }), read: () => Promise.resolve(Buffer.from(text)) };
  try {
    await loadInventory({ file: flags.inventory ?? 'inventory.yaml', env, cwd, checks: checkNames, sources });
  } catch (error) {
    if (!(error instanceof InventoryError)) throw error;
    // Without places: the operator has not seen the text that they point into.
    const problems = error.problems.map(({ path, message }) => `${path}: ${message}`);
    throw new UsageError(`these answers make no inventory:\n${problems.join('\n')}`);
  }
  if (flags.inventory === undefined || flags.inventory === '-') {
    context.out(text);
    return 0;
  }
  const file = resolve(cwd, flags.inventory);
  try {
    await writeFile(file, text, { flag: 'wx' });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    throw new UsageError(`${flags.inventory} is there already`, { remedy: 'choose another name, or remove it first' });
  }
  context.err(`wrote ${flags.inventory}${await schemaBeside(file)}; next: kbuild check ${flags.inventory}\n`);
  return 0;
}
