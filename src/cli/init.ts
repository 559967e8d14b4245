import { writeFile } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { InventoryError, UsageError } from '../errors.ts';
import { loadInventory } from '../inventory/load.ts';
import { SCHEMA_FILE, skeleton, type Answers, type SkeletonHost } from '../inventory/skeleton.ts';
import { inventoryJsonSchema } from '../inventory/schema.ts';
import { localSources } from '../inventory/sources.ts';
import { PROPOSED_KUBERNETES } from '../versions.ts';
import type { InitOptions } from './commands/init.ts';
import type { Context } from './context.ts';

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
 * Writes the schema of inventories beside a new one, for editors; says so. Draft 7, which every editor knows. One that is there
 * stays, and an inventory without one is as good.
 */
async function schemaBeside(inventory: string): Promise<string> {
  try {
    const text = `${JSON.stringify(inventoryJsonSchema('7'), undefined, 2)}\n`;
    await writeFile(join(dirname(inventory), SCHEMA_FILE), text, { flag: 'wx' });
    return `, and ${SCHEMA_FILE} for editors`;
  } catch {
    return '';
  }
}

/**
 * `kbuild init [FILE]`: a commented inventory, to stdout or to a new file, then with its schema beside it. Asks questions if there is a terminal and
 * no flag gives an answer. Writes an example if there is neither. @throws UsageError for answers that make no valid inventory.
 */
export async function runInit(context: Context, flags: InitOptions): Promise<number> {
  const text = skeleton(flagged(flags) || !context.canAsk ? answered(flags) : await asked(context));
  const { env, cwd } = context;
  const sources = { ...localSources({ env, cwd, reach: 'local' }), read: () => Promise.resolve(Buffer.from(text)) };
  try {
    await loadInventory({ file: flags.inventory ?? 'inventory.yaml', env, cwd, sources });
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
