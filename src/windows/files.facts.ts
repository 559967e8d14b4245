import * as z from 'zod';
import { FactError } from '../errors.ts';
import type { Command } from '../shell/command.ts';
import type { Asked, Probe } from '../shell/probe.ts';
import { WatchedMap } from '../shell/watched.ts';
import { powershell } from '../templates.ts';

/** A probe of a Windows host. Its script returns one JSON value. `parse` throws if `schema` does not accept it. */
export const windowsProbe = <S extends z.ZodType, T>(
  command: Command<'powershell'>,
  schema: S,
  make: (answer: z.output<S>, asked: Asked) => T,
): Probe<T, 'powershell'> => ({
  command,
  parse: (text, asked) => make(schema.parse(JSON.parse(text)), asked),
});

const text = z.string().min(1);

const FILE = z.discriminatedUnion('kind', [
  z.object({ path: text, kind: z.literal('file'), sha256: text, modifiedMs: z.number() }),
  z.object({ path: text, kind: z.literal('folder'), entries: z.number(), modifiedMs: z.number() }),
]);

const UNREADABLE = z.object({ path: text, kind: z.literal('unreadable'), problem: text });

/** A file or folder that exists on a Windows host. */
export type WindowsFile = Readonly<z.output<typeof FILE>>;

/** A path that exists and could not be read, and why. */
type UnreadableFile = Readonly<z.output<typeof UNREADABLE>>;

/** The watched paths that exist, and all files below the watched trees. Look-ups ignore case, as Windows does. */
export interface WindowsFiles {
  /** @throws FactError if the path exists and could not be read: it is then neither a file nor absent. */
  readonly at: (path: string) => WindowsFile | undefined;
  /** The files below a folder, which ends in a backslash. @throws FactError as `at` */
  readonly under: (folder: string) => readonly WindowsFile[];
}

/**
 * The observed files of these paths and trees of a host. `at` throws a plain `Error` (a bug) for a path that is not
 * watched.
 */
export function windowsFiles(
  host: string,
  found: readonly (WindowsFile | UnreadableFile)[],
  paths: readonly string[],
  trees: readonly string[] = [],
): WindowsFiles {
  const known = new Set(paths.map((path) => path.toLowerCase()));
  const roots = trees.map((tree) => `${tree}\\`.toLowerCase());
  const byPath = new WatchedMap(
    found.map((file) => [file.path.toLowerCase(), file]),
    (path) => known.has(path) || roots.some((root) => path.startsWith(root)),
  );
  const readable = (file: WindowsFile | UnreadableFile): WindowsFile => {
    if (file.kind === 'unreadable') throw new FactError(host, file.path, file.problem);
    return file;
  };
  return {
    at: (path) => {
      const file = byPath.get(path.toLowerCase());
      return file === undefined ? undefined : readable(file);
    },
    under: (folder) => {
      const root = folder.toLowerCase();
      return [...byPath]
        .filter(([path, { kind }]) => path.startsWith(root) || (kind === 'unreadable' && `${path}\\` === root))
        .map(([, file]) => readable(file));
    },
  };
}

/** Observes the named files and folders of a host, and every file below the trees. */
export const files = (host: string, paths: readonly string[], trees: readonly string[]) =>
  windowsProbe(
    powershell('windows/probe-files.ps1', { Paths: paths, Trees: trees }),
    z.object({ files: z.array(z.union([FILE, UNREADABLE])) }),
    (answer): WindowsFiles => windowsFiles(host, answer.files, paths, trees),
  );

/** The paths that exist, spelled as in `paths`. */
export const existing = (paths: readonly string[]) =>
  windowsProbe(
    powershell('windows/probe-paths.ps1', { Paths: paths }),
    z.object({ paths: z.array(text) }),
    (answer): ReadonlySet<string> => new Set(answer.paths),
  );

/** Access rules of the folders that exist, as SDDL, by path. */
export const access = (paths: readonly string[]) =>
  windowsProbe(
    powershell('windows/probe-access.ps1', { Paths: paths }),
    z.object({ rules: z.array(z.object({ path: text, sddl: text })) }),
    (answer): ReadonlyMap<string, string> => new Map(answer.rules.map(({ path, sddl }) => [path, sddl])),
  );

const CONTENT = z.object({ present: z.boolean(), text: z.string() });

/** Observes a text file and returns `make(text)`; if the file does not exist, `make('absent')`. */
export const textOf = <T>(path: string, make: (text: string) => T) =>
  windowsProbe(powershell('windows/probe-text.ps1', { Path: path }), CONTENT, (answer) =>
    make(answer.present ? answer.text : 'absent'),
  );

/**
 * Rights of an access rule by their SDDL abbreviation, as the mask of a file (Microsoft, "ACE strings", "File access
 * rights constants").
 */
const RIGHTS: Readonly<Record<string, number>> = {
  GA: 0x1000_0000,
  GW: 0x4000_0000,
  FA: 0x1f_01ff,
  FW: 0x12_0116,
  WD: 0x4_0000,
  WO: 0x8_0000,
  SD: 0x1_0000,
  // In a folder: delete a child; make a folder; make a file.
  DT: 0x40,
  LC: 0x4,
  DC: 0x2,
};

/** Any of these lets an account put a file into a folder, exchange one, or give itself the right to. */
const WRITE = 0x1000_0000 | 0x4000_0000 | 0x4_0000 | 0x8_0000 | 0x1_0000 | 0x40 | 0x4 | 0x2;

/** The accounts that are administrators anyway: SYSTEM, the administrators, and the installer of Windows. */
const ADMINISTRATORS = new Set([
  ...['SY', 'BA', 'LA', 'DA', 'EA', 'S-1-5-18', 'S-1-5-32-544'],
  'S-1-5-80-956008885-3418522649-1831038044-1853292631-2271478464',
]);

/** Names of accounts and groups by their SDDL abbreviation (Microsoft, "SID strings"). */
const NAMES: Readonly<Record<string, string>> = {
  BU: 'every user',
  AU: 'every user',
  WD: 'Everyone',
  IU: 'every user at the console',
  CO: 'who makes a file there',
};

const maskOf = (rights: string): number =>
  rights.startsWith('0x')
    ? Number.parseInt(rights, 16)
    : (rights.match(/../g) ?? []).reduce((mask, right) => mask | (RIGHTS[right] ?? 0), 0);

/**
 * The accounts, beside administrators, that can change the content of a folder, by its SDDL: its owner, who may change
 * its rules, and the accounts that a rule gives a right to write, in the folder or in those below. Names of groups, or
 * SIDs.
 */
export function writersOf(sddl: string): readonly string[] {
  const [, owner] = /^O:(S-[\d-]+|[A-Z]{2})/.exec(sddl) ?? [];
  const rules = [...sddl.matchAll(/\(A;[^;]*;([^;]*);[^;]*;[^;]*;([^;)]+)\)/g)];
  const allowed = rules.filter(([, rights]) => (maskOf(rights!) & WRITE) !== 0).map(([, , account]) => account!);
  const accounts = [...(owner === undefined ? [] : [owner]), ...allowed].filter((one) => !ADMINISTRATORS.has(one));
  return [...new Set(accounts.map((one) => NAMES[one] ?? one))];
}
