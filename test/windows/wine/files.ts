/** The files of a simulated machine on the drive C: of wine: the model's before a program runs, and back when it has. */
import {
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, join, relative } from 'node:path';
import { filesOf, type Machine } from '../host/machine.ts';
import { isWholeProgram } from '../host/internet.ts';
import type { Wine } from './wine.ts';

/** Both directions. */
export interface SharedFiles {
  /** The model's files and folders are on the drive, and nothing that the model has removed. */
  readonly toDrive: () => void;
  /** What programs made, changed and removed on the drive, the model has too. */
  readonly toModel: () => void;
  /** Whether the drive has, or will have, a real program there. */
  readonly isReal: (path: string) => boolean;
}

interface Known {
  readonly path: string;
  readonly content: Buffer;
  readonly stamp: string;
}

/** Windows' own, which the model does not have, and what containerd keeps. */
const OWN = /^(?:windows|users|programdata\/containerd)$/i;

const stampOf = (file: string): string => {
  const { mtimeMs, size } = lstatSync(file);
  return `${String(mtimeMs)} ${String(size)}`;
};

/** Everything below a folder, folders before what they hold. */
function below(drive: string, folder = drive): readonly { readonly file: string; readonly isFolder: boolean }[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const file = join(folder, entry.name);
    if (OWN.test(relative(drive, file))) return [];
    return entry.isDirectory() ? [{ file, isFolder: true }, ...below(drive, file)] : [{ file, isFolder: false }];
  });
}

/**
 * Shares the files of a machine with a drive. `programs`: files of this machine by name; where the model has a whole program
 * of such a name, the drive has the real one.
 */
export function shareFiles(
  machine: Machine,
  { drive, onDisk }: Wine,
  programs: ReadonlyMap<string, string>,
): SharedFiles {
  const realFor = (path: string, content: Buffer): string | undefined =>
    isWholeProgram(content) ? programs.get(basename(path.replaceAll('\\', '/')).toLowerCase()) : undefined;
  const model = filesOf(machine);
  const known = new Map<string, Known>();
  const before = new Set(below(drive).map(({ file }) => file.toLowerCase()));
  const onC = (file: string): string => `C:\\${relative(drive, file).replaceAll('/', '\\')}`;

  return {
    isReal: (path) => {
      const file = model.get(path);
      return file !== undefined && realFor(path, file.content) !== undefined;
    },
    toDrive() {
      for (const [key, { path }] of known)
        if (!machine.files.has(key)) {
          rmSync(cased(path), { force: true });
          known.delete(key);
        }
      for (const { file, isFolder } of below(drive).toReversed())
        if (isFolder && !before.has(file.toLowerCase()) && !model.exists(onC(file)))
          rmSync(file, { recursive: true, force: true });
      for (const folder of machine.folders) if (/^c:\\/.test(folder)) mkdirSync(cased(folder), { recursive: true });
      for (const [key, { path, content }] of machine.files) {
        if (!/^c:\\/.test(key) || known.get(key)?.content === content) continue;
        const file = known.get(key)?.path ?? path;
        const real = realFor(path, content);
        mkdirSync(dirname(cased(file)), { recursive: true });
        rmSync(cased(file), { force: true });
        if (real === undefined) writeFileSync(cased(file), content);
        else symlinkSync(real, cased(file));
        known.set(key, { path: file, content, stamp: stampOf(cased(file)) });
      }
    },
    toModel() {
      const there = new Set<string>();
      for (const { file, isFolder } of below(drive)) {
        if (before.has(file.toLowerCase())) continue;
        const path = onC(file);
        const key = path.toLowerCase();
        there.add(key);
        if (isFolder) model.makeFolder(path);
        else if (existsSync(file) && known.get(key)?.stamp !== stampOf(file)) {
          const content = readFileSync(file);
          model.put(path, content, machine.files.get(key)?.access ?? 'inherited');
          known.set(key, { path, content: machine.files.get(key)!.content, stamp: stampOf(file) });
        }
      }
      for (const key of [...known.keys()])
        if (!there.has(key)) {
          known.delete(key);
          model.remove(key);
        }
      for (const folder of [...machine.folders])
        if (/^c:\\/.test(folder) && !there.has(folder) && !before.has(onDisk(folder).toLowerCase()))
          machine.folders.delete(folder);
    },
  };

  /** The file for a path, in the case of the folders that are there: this machine's file system tells cases apart. */
  function cased(path: string): string {
    return path
      .slice(3)
      .split('\\')
      .reduce((folder, part) => {
        const same = existsSync(folder)
          ? readdirSync(folder).find((name) => name.toLowerCase() === part.toLowerCase())
          : undefined;
        return join(folder, same ?? part);
      }, drive);
  }
}
