import { dirname, resolve } from 'node:path';
import { InventoryError, type Problem } from '../errors.ts';
import { decode } from './decode.ts';
import { parseInventory, type Found } from './document.ts';
import { gather } from './gather.ts';
import type { Inventory } from '../model/inventory.ts';
import { showPath, type Path } from './path.ts';
import { reason } from './reader.ts';
import { resolved } from './resolve.ts';
import { rules, wholeRules } from './rules.ts';
import { localSources, type Sources } from './sources.ts';
import { decodeText, READ_LIMIT } from './text.ts';

/** The inventory's place and its allowed sources. */
export interface LoadOptions {
  /** Path of the file, or `-` for standard input; relative to `cwd`, as everything in an inventory from there. */
  readonly file: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
  /** Default: this machine, commands of secrets and URLs of manifests included. */
  readonly sources?: Sources;
}

/** A usable inventory, and what its author should know. */
export interface Loaded {
  readonly inventory: Inventory;
  readonly warnings: readonly Problem[];
  /** Where each host stands: `file:line:column`, by name. */
  readonly hostPlaces: ReadonlyMap<string, string>;
}

const MAX_PROBLEMS = 100;

const NO_FILE = 'there is no such file; "kbuild init > inventory.yaml" writes one';

/** The text of an inventory. @throws InventoryError when it cannot be read */
export async function readInventoryText(sources: Sources, file: string, path: string): Promise<string> {
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
  const { file, cwd, env } = options;
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
    const applicable = decoded.whole ? [...rules, ...wholeRules] : rules;
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
      const inventory = resolved(decoded.file, gathered, path, (name) => sources.locate(name, folder));
      const hostPlaces = new Map(
        decoded.file.hosts.map(({ name }, i) => [name, at(decoded.locate(['hosts', i]).offset)]),
      );
      return { inventory, warnings: ordered(warnings), hostPlaces };
    }
  }
  throw new InventoryError(ordered(problems));
}
