import { dirname, resolve } from 'node:path';
import { InventoryError, type Problem } from '../../errors.ts';
import type { Inventory } from '../inventory.ts';
import { label } from '../schema/formats.ts';
import { type Path, showPath } from '../schema/rule.ts';
import { decode } from './decode.ts';
import { type Found, parseInventory } from './document.ts';
import { gather } from './gather.ts';
import { missingKeys } from './keys.ts';
import { reason } from './reader.ts';
import { resolved } from './resolve.ts';
import { rules, wholeRules } from './rules.ts';
import { ignoredChecks } from './rules/settings.ts';
import { localSources, type Sources } from './sources.ts';

/** Upper limits for an inventory. One with 5,000 hosts needs about a third of them. */
const MAX_BYTES = 1024 * 1024;
const MAX_LINES = 50_000;
const MAX_LINE_LENGTH = 64 * 1024;

/** Bytes to read of a file to detect that it is too large. */
const READ_LIMIT = MAX_BYTES + 1;

// What YAML does not allow in a text: control characters other than tab and line ends, half surrogate pairs,
// non-characters.
const FORBIDDEN = /[\u0000-\u0008\u000B\u000C\u000E-\u001F\u007F-\u0084\u0086-\u009F\uFFFE\uFFFF]/;

const fail = (at: string, message: string): never => {
  throw new InventoryError([{ at, path: '', message }]);
};

/**
 * The text of an inventory. Throws `InventoryError` on what is too large, binary or not UTF-8; takes a byte order mark
 * away.
 */
function decodeText(bytes: Uint8Array, file: string): string {
  if (bytes.length > MAX_BYTES) fail(file, 'is larger than 1 MiB, which no inventory is: is it the right file?');
  if ((bytes[0] === 0xff && bytes[1] === 0xfe) || (bytes[0] === 0xfe && bytes[1] === 0xff))
    fail(file, 'is UTF-16; save it as UTF-8');
  let text: string;
  try {
    text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    return fail(file, 'is not UTF-8 text: is it the right file?');
  }
  text = text.replaceAll('\r\n', '\n');
  const lines = text.split('\n');
  if (lines.length > MAX_LINES) fail(file, `has ${lines.length} lines, an inventory at most ${MAX_LINES}`);
  lines.forEach((line, i) => {
    if (line.length > MAX_LINE_LENGTH)
      fail(`${file}:${i + 1}:1`, `this line has ${line.length} characters, at most ${MAX_LINE_LENGTH} are allowed`);
    const found = FORBIDDEN.exec(line);
    if (found !== null) {
      const code = found[0].codePointAt(0)!.toString(16).toUpperCase().padStart(4, '0');
      fail(
        `${file}:${i + 1}:${found.index + 1}`,
        `character U+${code} is not allowed: is it a binary file, or was something pasted? Write it as ` +
          `"\\u${code}" in quotes where it is meant`,
      );
    }
  });
  return text;
}

/** The inventory's place and its allowed sources. */
interface LoadOptions {
  /** Path of the file, or `-` for standard input; relative to `cwd`, as everything in an inventory from there. */
  readonly file: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
  /** Names of the checks that `ignoreChecks` may name. */
  readonly checks: readonly string[];
  /** Default: this machine, commands of secrets and URLs of manifests included. */
  readonly sources?: Sources;
  /** True: a key file for SSH that this machine cannot read is a warning. A command that connects tells it itself. */
  readonly checksKeys?: true;
}

/** A usable inventory, and what its author should know. */
export interface Loaded {
  readonly inventory: Inventory;
  readonly warnings: readonly Problem[];
  /** Where each host stands: `file:line:column`, by name. */
  readonly hostPlaces: ReadonlyMap<string, string>;
}

const MAX_PROBLEMS = 100;

const NO_FILE = 'there is no such file; "kbuild init inventory.yaml" writes one';

/** The text of an inventory. @throws InventoryError when it cannot be read */
async function readInventoryText(sources: Sources, file: string, path: string): Promise<string> {
  try {
    return decodeText(await sources.read(path, READ_LIMIT), file);
  } catch (error) {
    if (error instanceof InventoryError) throw error;
    const message = (error as NodeJS.ErrnoException).code === 'ENOENT' ? NO_FILE : reason(error);
    throw new InventoryError([{ at: file, path: '', message }]);
  }
}

/**
 * Reads an inventory with all that it refers to: files, secrets, manifests. Contacts no host.
 * @throws InventoryError with every problem at once, in the order of their places.
 */
export async function loadInventory(options: LoadOptions): Promise<Loaded> {
  const { file, cwd, env, checks } = options;
  const sources = options.sources ?? localSources({ env, cwd, reach: 'all' });
  const path = file === '-' ? '-' : sources.locate(file, cwd);
  const folder = path === '-' ? cwd : dirname(path);
  const { root, at, problems: written } = parseInventory(await readInventoryText(sources, file, path), file);
  if (root.value === null)
    throw new InventoryError([{ at: file, path: '', message: 'is empty; "kbuild init" writes an inventory' }]);

  const decoded = decode(root);
  const problems: Found[] = [...written, ...decoded.problems];
  const warnings: Found[] = [];
  const placed = (setting: Path, message: string): Found => ({ ...decoded.locate(setting), message });
  const ordered = (found: readonly Found[]): readonly Problem[] =>
    found
      .toSorted((a, b) => a.offset - b.offset)
      .slice(0, MAX_PROBLEMS)
      .map(({ offset, path: setting, message }) => ({ at: at(offset), path: showPath(setting), message }));

  if (decoded.file !== undefined) {
    const applicable = [...rules, ignoredChecks(checks), ...(decoded.whole ? wholeRules : [])];
    for (const { severity, path: setting, message } of applicable.flatMap((rule) => rule(decoded.file!)))
      (severity === 'warning' ? warnings : problems).push(placed(setting, message));
    // Commands run and URLs are fetched only for an inventory that is valid so far.
    const { env: variables, locate, read, list } = sources;
    const local = { env: variables, locate, read, list };
    const gathered = await gather(
      decoded.file,
      resolve(folder),
      problems.length === 0 ? sources : local,
      (setting, message) => problems.push(placed(setting, message)),
    );
    if (problems.length === 0) {
      if (options.checksKeys === true)
        for (const { path: setting, message } of await missingKeys(decoded.file, resolve(folder), sources))
          warnings.push(placed(setting, message));
      const inventory = resolved(decoded.file, gathered, path, (name) => sources.locate(name, folder));
      const hostPlaces = new Map(
        decoded.file.hosts.map(({ name }, i) => [name, at(decoded.locate(['hosts', i]).offset)]),
      );
      return { inventory, warnings: ordered(warnings), hostPlaces };
    }
  }
  throw new InventoryError(ordered(problems));
}

/** True for what an inventory may name a cluster. */
export const isClusterName = (text: string): boolean => label().safeParse(text).success;

/**
 * The name of an inventory's cluster. Reads nothing else of it: its secrets may be out of reach, and the rest need not
 * be valid. @throws InventoryError if there is no file or no name
 */
export async function clusterName({ file, env, cwd }: Pick<LoadOptions, 'file' | 'env' | 'cwd'>): Promise<string> {
  const sources = localSources({ env, cwd, reach: 'local' });
  const path = file === '-' ? '-' : resolve(sources.locate(file, cwd));
  const { root } = parseInventory(await readInventoryText(sources, file, path), file);
  const name = root.children.get('name')?.value;
  if (typeof name === 'string' && isClusterName(name)) return name;
  throw new InventoryError([{ at: file, path: 'name', message: 'does not name a cluster' }]);
}

/** A file that an inventory names. */
interface NamedFile {
  /** Absolute. */
  readonly path: string;
  readonly bytes: Uint8Array;
}

/** An inventory's own text, and the files that it names. */
interface InventoryTexts {
  readonly text: string;
  readonly files: readonly NamedFile[];
}

/** Every text of a document that refers to a file with a secret. */
function secretFiles(value: unknown): readonly string[] {
  if (typeof value === 'string') return value.startsWith('file:') ? [value.slice('file:'.length)] : [];
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(secretFiles) : [];
}

/**
 * The text of an inventory and of the files that it names: manifests, patches, certificates, sources of `files:`.
 * Without secrets: files of references (`file:…`), and files that hold a private key. Runs no command and fetches
 * nothing. `file`: absolute.
 */
export async function inventoryTexts(
  file: string,
  { env, cwd }: { readonly env: Readonly<Record<string, string | undefined>>; readonly cwd: string },
): Promise<InventoryTexts> {
  const local = localSources({ env, cwd, reach: 'local' });
  const read = new Map<string, Uint8Array>();
  const sources = {
    ...local,
    read: async (path: string, limit: number) => {
      const bytes = await local.read(path, limit);
      read.set(path, bytes);
      return bytes;
    },
  };
  await loadInventory({ file, env, cwd, checks: [], sources }).catch((error: unknown) => {
    // What only a command or the network has is missing here.
    if (!(error instanceof InventoryError)) throw error;
  });
  const own = Buffer.from(read.get(file) ?? (await local.read(file, Infinity))).toString('utf8');
  const secret = new Set(
    secretFiles(parseInventory(own, file).root.value).map((name) => local.locate(name, dirname(file))),
  );
  const files = [...read]
    .filter(
      ([path, bytes]) =>
        path !== file && !secret.has(path) && !/PRIVATE KEY-----/.test(Buffer.from(bytes).toString('latin1')),
    )
    .map(([path, bytes]) => ({ path, bytes }));
  return { text: own, files };
}
