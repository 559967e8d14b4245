import { z } from 'zod';
import { powershell } from '../../templates.ts';
import { WatchedMap } from '../watched.ts';
import { windowsProbe } from './windows-probe.ts';

const text = z.string();

const FILE = z.discriminatedUnion('kind', [
  z.object({ path: text, kind: z.literal('file'), sha256: text, modifiedMs: z.number() }),
  z.object({ path: text, kind: z.literal('folder'), entries: z.number(), modifiedMs: z.number() }),
]);

/** One path of a Windows host that is there. */
export type WindowsFile = Readonly<z.output<typeof FILE>>;

/** What is there of the watched paths and trees. Windows does not tell upper from lower case in paths. */
export interface WindowsFiles {
  readonly at: (path: string) => WindowsFile | undefined;
  readonly all: readonly WindowsFile[];
}

/** Files by what was found of these paths and trees. Asking for another path throws a plain `Error` (a bug). */
export function windowsFiles(
  found: readonly WindowsFile[],
  paths: readonly string[],
  trees: readonly string[] = [],
): WindowsFiles {
  const known = new Set(paths.map((path) => path.toLowerCase()));
  const roots = trees.map((tree) => `${tree}\\`.toLowerCase());
  const byPath = new WatchedMap(
    found.map((one) => [one.path.toLowerCase(), one]),
    (path) => known.has(path) || roots.some((root) => path.startsWith(root)),
  );
  return { at: (path) => byPath.get(path.toLowerCase()), all: [...byPath.values()] };
}

/** The named files and folders, and every file below the trees. */
export const files = (paths: readonly string[], trees: readonly string[]) =>
  windowsProbe(
    powershell('windows/probe-files.ps1', { Paths: paths, Trees: trees }),
    z.object({ files: z.array(FILE) }),
    (said): WindowsFiles => windowsFiles(said.files, paths, trees),
  );

/** Which of the paths exist, as they were asked for. */
export const existing = (paths: readonly string[]) =>
  windowsProbe(
    powershell('windows/probe-paths.ps1', { Paths: paths }),
    z.object({ paths: z.array(text) }),
    (said): ReadonlySet<string> => new Set(said.paths),
  );

/** Access rules of those of the folders that are there, as SDDL, by path. */
export const access = (paths: readonly string[]) =>
  windowsProbe(
    powershell('windows/probe-access.ps1', { Paths: paths }),
    z.object({ rules: z.array(z.object({ path: text, sddl: text })) }),
    (said): ReadonlyMap<string, string> => new Map(said.rules.map(({ path, sddl }) => [path, sddl])),
  );

const CONTENT = z.object({ present: z.boolean(), text });

/** What `make` makes of a text file of the host; of the text `absent` where there is none. */
export const textOf = <T>(path: string, make: (text: string) => T) =>
  windowsProbe(powershell('windows/probe-text.ps1', { Path: path }), CONTENT, (said) =>
    make(said.present ? said.text : 'absent'),
  );
