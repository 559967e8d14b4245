import type { Inventory } from '../inventory/inventory.ts';
import { OWN_HEADER, paths } from '../paths.ts';
import { containerRuntime, runtimeFiles } from '../runtime/runtimes.value.ts';
import { onceForEach } from '../shell/memo.ts';
import { lines, numberOf, probeInPlace } from '../shell/probe.ts';
import { sh } from '../shell/sh.ts';
import { WatchedMap } from '../shell/watched.ts';
import { script, using } from '../templates.ts';
import { chronyFiles, keyringFiles, packageManagerFiles } from './packages/distributions.value.ts';

/** One path on a host. */
export type FileState =
  | { readonly kind: 'absent' }
  | { readonly kind: 'other' }
  /** Another user than root decides where the path leads: a folder or a link on the way is theirs. `why` names it. */
  | { readonly kind: 'unsafe'; readonly why: string }
  /** Its time changes when an entry is added or removed. */
  | { readonly kind: 'folder'; readonly mtimeMs: number }
  | {
      readonly kind: 'file';
      readonly sha256: string;
      readonly mode: number;
      readonly owner: string;
      readonly mtimeMs: number;
    };

/** The answer of a host's probe of files: a state for every named path, and for every file of the trees. */
export function watchedFiles(
  paths: readonly string[],
  trees: readonly string[],
  found: Iterable<readonly [string, FileState]>,
): ReadonlyMap<string, FileState> {
  const known = new Set(paths);
  return new WatchedMap(found, (path) => known.has(path) || trees.some((tree) => path.startsWith(`${tree}/`)));
}

/** sha256sum escapes such a name (coreutils manual, "md5sum invocation"), and marks the line by a leading backslash. */
const plainName = (escaped: string): string =>
  escaped.replace(/\\(.)/g, (_, char: string) => ({ n: '\n', r: '\r' })[char] ?? char);

const probeOf = (paths: readonly string[], trees: readonly string[]) =>
  script('host/probe-files.sh', { PATHS: paths, TREES: trees });

/**
 * The named files: hash, mode, owner (`user:group`) and time of change (ms since the epoch); folders' files with
 * `trees`.
 */
export const files = (paths: readonly string[], trees: readonly string[]) =>
  probeInPlace(probeOf(paths, trees), (out): ReadonlyMap<string, FileState> => {
    const found = new Map<string, FileState>();
    const stats = new Map<string, { mode: number; owner: string; mtimeMs: number }>();
    let unsafe: string | undefined;
    for (const line of lines(out)) {
      unsafe = /^unsafe (.*)$/.exec(line)?.[1] ?? unsafe;
      const why = /^because (.*)$/.exec(line)?.[1];
      if (why !== undefined && unsafe !== undefined) found.set(unsafe, { kind: 'unsafe', why });
      const [, kind, path] = /^(absent|other) (.*)$/.exec(line) ?? [];
      if (kind !== undefined) found.set(path!, { kind: kind as 'absent' | 'other' });
      const [, changed, folder] = /^folder ([\d.]+) (.*)$/.exec(line) ?? [];
      if (folder !== undefined) found.set(folder, { kind: 'folder', mtimeMs: numberOf(changed, 'time') * 1000 });
      const stat = /^stat (\d+) (\S+) ([\d.]+) (.*)$/.exec(line);
      if (stat)
        stats.set(stat[4]!, {
          mode: parseInt(stat[1]!, 8),
          owner: stat[2]!,
          mtimeMs: numberOf(stat[3], 'time') * 1000,
        });
      const [, escaped, sha256, shown] = /^(\\?)([0-9a-f]{64}) [ *](.*)$/.exec(line) ?? [];
      if (sha256 !== undefined) {
        const name = escaped === '' ? shown! : plainName(shown!);
        const known = stats.get(name);
        if (known === undefined) throw new Error(`a hash without a stat: ${name}`);
        found.set(name, { kind: 'file', sha256, ...known });
      }
    }
    const unanswered = [...paths, ...stats.keys()].find((path) => !found.has(path));
    if (unanswered !== undefined) throw new Error(`no answer about ${unanswered}`);
    return watchedFiles(paths, trees, found);
  });

/** Reads a text file and returns `make(text)`; if the file does not exist, `make('absent')`. */
export const textOf = <T>(path: string, make: (text: string) => T) =>
  probeInPlace(using('host/show-text.sh', sh`if [ -e ${path} ]; then show_text ${path}; else echo absent; fi`), (out) =>
    make(out.trim() === 'absent' ? 'absent' : out),
  );

/** Files that kbuild owns by their names, with any content. */
const OWN_NAMES = [...keyringFiles, paths.fstabBackup, paths.haproxyConfigBackup, paths.keepalivedConfigBackup];

/** Folders that kbuild owns. */
const OWN_FOLDERS: readonly string[] = [paths.state, paths.kubeadmPatches];

const MARKED = [
  ...packageManagerFiles,
  ...chronyFiles,
  ...Object.values(paths).filter((path) => path.startsWith('/etc/') && !OWN_FOLDERS.includes(path)),
];

/** Files and folders that kbuild wrote on the host and that `reset` removes. */
export const ownFiles = onceForEach((inventory: Inventory) => {
  const runtime = containerRuntime(inventory);
  const { backup } = runtime.paths;
  const command = script('host/probe-own-files.sh', {
    HEADER: OWN_HEADER,
    MARKED: [...MARKED, ...runtimeFiles(runtime)],
    NAMES: [...OWN_NAMES, ...(backup === undefined ? [] : [backup]), ...OWN_FOLDERS],
  });
  return probeInPlace({ ...command, script: `${command.script}\n${runtime.ownRegistryFiles.script}` }, (out) =>
    lines(out),
  );
});

/** Paths of the files that kbuild distributed to the host (`files:` of the inventory), from its record there. */
export const distributedFiles = probeInPlace(
  using('host/show-text.sh', sh`if [ -e ${paths.distributed} ]; then show_text ${paths.distributed}; fi`),
  (out): readonly string[] => lines(out),
);
