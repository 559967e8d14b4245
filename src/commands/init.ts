import { accessSync, constants, statSync } from 'node:fs';
import { rename, rm, writeFile } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { InventoryError, UsageError } from '../errors.ts';
import type { Family } from '../inventory/addresses.ts';
import { editorJsonSchema } from '../inventory/schema/editor.ts';
import type { Context } from '../session/context.ts';
import { systemText } from '../shell/text.ts';
import { NEWEST_KUBERNETES } from '../versions.ts';
import { discover, loadText, NOTHING_FOUND, showDiscovery, withDiscovery } from './init-discovery.ts';
import { FAMILIES_FORM, familiesFor, isAddressed, parseFamilies, proposedFamilies } from './init-families.ts';
import { guide } from './init-guide.ts';
import { sharedNetworks } from './init-networks.ts';
import { type Answers, hostsOf, parseHost, SCHEMA_FILE, skeleton, topology } from './init-skeleton.ts';
import type { InitOptions } from './inventory.command.ts';
import { isSpecial } from './own-file.ts';

/** A host of the documentation (RFC 5737, RFC 3849) with addresses of these families. */
function exampleHost(number: number, families: readonly Family[]): string {
  const addresses = families.map((family) => `${family === 'IPv4' ? '192.0.2.' : '2001:db8::'}${String(number)}`);
  return addresses.length === 1 ? addresses[0]! : `${addresses[0]!}/${addresses.join(',')}`;
}

/** The hosts that flags name, with the user of all; those of the documentation where there is no flag. */
function flaggedHosts(
  { hosts, controlPlane, worker, user, ...flags }: InitOptions,
  families: readonly Family[],
): Pick<Answers, 'user' | 'hosts'> {
  if (hosts !== undefined) {
    if (controlPlane !== undefined || worker !== undefined)
      throw new UsageError('--hosts cannot be combined with --control-plane or --worker');
    const hasEndpoint = flags.endpoint !== undefined || flags.virtualAddress !== undefined;
    const found = topology(hosts.map(parseHost), hasEndpoint && hosts.length >= 3 ? 3 : 1);
    return user === undefined ? found : { ...found, user };
  }
  const example = (numbers: readonly number[]) => numbers.map((number) => exampleHost(number, families));
  const of =
    controlPlane === undefined && worker === undefined
      ? { controlPlane: example([11]), worker: example([21, 22]) }
      : { controlPlane, worker };
  return {
    user: user ?? 'root',
    hosts: [
      ...hostsOf((of.controlPlane ?? []).map(parseHost), 'control-plane'),
      ...hostsOf((of.worker ?? []).map(parseHost), 'worker'),
    ],
  };
}

function answered(flags: InitOptions): Answers {
  const { name, kubernetes, endpoint, virtualAddress, identityFile } = flags;
  const families = flags.families === undefined ? undefined : parseFamilies(flags.families);
  return {
    name: name ?? 'demo',
    version: kubernetes ?? NEWEST_KUBERNETES,
    ...(endpoint === undefined ? {} : { endpoint }),
    ...(virtualAddress === undefined ? {} : { virtualAddress }),
    ...(identityFile === undefined ? {} : { identityFile }),
    ...(families === undefined ? {} : { families }),
    ...flaggedHosts(flags, families ?? ['IPv4']),
  };
}

/**
 * The answers with what the hosts told. @throws the reason of a host whose address only SSH could tell; UsageError for
 * a host without an address of a family
 */
async function observed(context: Context, answers: Answers, flags: InitOptions): Promise<Answers> {
  const discovery = await discover(context, answers, flags);
  showDiscovery(context, discovery);
  const found = [...discovery.found.values()];
  const { families = proposedFamilies(found) } = answers;
  const needed = answers.hosts.find((host) => !isAddressed(host, families) && discovery.failed.has(host.name));
  if (needed !== undefined) throw discovery.failed.get(needed.name)!;
  const networks = families.map((family) => sharedNetworks(found, family)[0]);
  const whole = withDiscovery({ ...answers, families }, discovery, networks);
  const without = whole.hosts.find((host) => !isAddressed(host, families));
  if (without === undefined) return whole;
  throw new UsageError(`${without.name} has no address that it keeps of ${families.join(' and ')}`, {
    remedy: `give it one, or choose other --families: ${FAMILIES_FORM}`,
  });
}

/** The answers of flags alone, with subnets of their families. @throws UsageError where only SSH tells the addresses */
function unobserved(answers: Answers): Answers {
  const families = familiesFor(answers);
  const unknown = answers.hosts.find((host) => families.length > 1 && !isAddressed(host, families));
  if (unknown !== undefined)
    throw new UsageError(`the addresses of ${unknown.name} in both families are not known`, {
      remedy: 'name the hosts by --hosts without --no-ssh: kbuild then reads their addresses',
    });
  return families.includes('IPv6') ? withDiscovery(answers, NOTHING_FOUND, []) : answers;
}

const flagged = (flags: InitOptions): boolean =>
  (
    [
      'name',
      'kubernetes',
      'endpoint',
      'virtualAddress',
      'user',
      'identityFile',
      'controlPlane',
      'worker',
      'hosts',
      'families',
    ] as const
  ).some((flag) => flags[flag] !== undefined);

async function answersOf(context: Context, flags: InitOptions): Promise<Answers> {
  if (!flagged(flags) && context.canAsk) return guide(context, flags);
  const answers = answered(flags);
  return flags.hosts === undefined || flags.ssh === false ? unobserved(answers) : observed(context, answers, flags);
}

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

const unwritable = (name: string, error: unknown): UsageError =>
  new UsageError(`${name} cannot be written: ${systemText(error)}`, {
    remedy: 'name another file, or make its folder first',
    cause: error,
  });

/**
 * Refuses a file that cannot be written, and one that holds something. An empty one is left by a shell whose `> FILE`
 * got no text.
 */
function refuseFile(name: string, file: string): void {
  try {
    accessSync(dirname(file), constants.W_OK);
    const there = statSync(file, { throwIfNoEntry: false });
    if (there === undefined || (there.isFile() && there.size === 0)) return;
  } catch (error) {
    throw unwritable(name, error);
  }
  if (isSpecial(file))
    throw new UsageError(`${name} is no file`, { remedy: 'name a new file, or print the inventory: kbuild init -' });
  throw new UsageError(`${name} is there already`, { remedy: 'choose another name, or remove it first' });
}

/** Writes a new file whole or not at all. @throws UsageError */
async function writeNew(name: string, file: string, text: string): Promise<void> {
  refuseFile(name, file);
  const temporary = `${file}.${String(process.pid)}.tmp`;
  try {
    await writeFile(temporary, text, { flag: 'wx' });
    await rename(temporary, file);
  } catch (error) {
    await rm(temporary, { force: true });
    throw unwritable(name, error);
  }
}

/** The file to write: an operator at a terminal who named none is asked; `-` prints the inventory. */
async function target(context: Context, flags: InitOptions): Promise<string> {
  if (flags.inventory !== undefined) return flags.inventory;
  if (!context.canAsk || flagged(flags) || context.display === undefined) return '-';
  for (;;) {
    const answer = (await context.ask('File to write, or - to print it [inventory.yaml]: ')).trim();
    const name = answer === '' ? 'inventory.yaml' : answer;
    try {
      if (name !== '-') refuseFile(name, resolve(context.cwd, name));
      return name;
    } catch (error) {
      context.err(`✖ ${(error as Error).message}\n`);
    }
  }
}

/** The new inventory. @throws UsageError for answers that make none; ConnectError, as `runInit` */
async function inventoryText(context: Context, flags: InitOptions): Promise<string> {
  try {
    const text = skeleton(await answersOf(context, flags));
    await loadText(context, text, flags.inventory);
    return text;
  } catch (error) {
    if (!(error instanceof InventoryError)) throw error;
    // Without places: the operator has not seen the text that they point into.
    const problems = error.problems.map(({ path, message }) => `${path}: ${message}`);
    throw new UsageError(`these answers make no inventory:\n${problems.join('\n')}`);
  }
}

/**
 * `kbuild init [FILE]`: a commented inventory, to stdout or to a new file, then with its schema beside it. Asks
 * questions if there is a terminal and no flag gives an answer. Writes an example if there is neither. Writes nothing
 * before the last answer. @throws UsageError for answers that make no valid inventory; ConnectError for a host of
 * `--hosts` whose address only SSH could tell
 */
export async function runInit(context: Context, flags: InitOptions): Promise<number> {
  if (flags.inventory !== undefined && flags.inventory !== '-')
    refuseFile(flags.inventory, resolve(context.cwd, flags.inventory));
  const text = await inventoryText(context, flags);
  const name = await target(context, flags);
  if (name === '-') {
    context.out(text);
    if (context.canAsk || flags.hosts !== undefined) context.err('next: kbuild check FILE\n');
    return 0;
  }
  const file = resolve(context.cwd, name);
  await writeNew(name, file, text);
  context.err(`wrote ${name}${await schemaBeside(file)}; next: kbuild check ${name}\n`);
  return 0;
}
