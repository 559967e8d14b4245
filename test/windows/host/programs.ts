import { filesOf, type Machine, type MachineFile } from './machine.ts';
import { ScriptFailure } from './script.ts';

/** The files of an archive, by the paths that they get. */
export const unpacked = (content: Buffer, strip: number, target: string): ReadonlyMap<string, Buffer> =>
  new Map(
    Object.entries(JSON.parse(content.toString()) as Readonly<Record<string, string>>).map(([name, text]) => [
      [target, ...name.split('/').slice(strip)].join('\\'),
      Buffer.from(text),
    ]),
  );

/**
 * Move-FilesOver of common.ps1: what stands there goes aside first, also a program that runs, and comes back where one cannot be
 * placed. `extra.unplaceable`: a path at which no file can be put. `last`: the file that comes last.
 */
export function moveOver(machine: Machine, news: ReadonlyMap<string, Buffer>, last: string): void {
  const files = filesOf(machine);
  const before = new Map<string, MachineFile | undefined>();
  const isLast = (path: string): number => Number(path.endsWith(`\\${last}`));
  try {
    for (const [path, content] of [...news].toSorted(([a], [b]) => isLast(a) - isLast(b))) {
      if (machine.extra.get('unplaceable') === path) throw new ScriptFailure(`Access to the path '${path}' is denied.`);
      before.set(path, files.putAside(path));
      files.put(path, content);
    }
  } catch (error) {
    for (const [path, file] of before) {
      files.remove(path);
      if (file !== undefined) machine.files.set(path.toLowerCase(), file);
    }
    throw error;
  }
}

/** `crictl rmp --all --force`: the shims of the pods end. `extra.pods`: names of pods that run. */
export function removePods(machine: Machine, crictl: string, endpoint: string): void {
  if (filesOf(machine).get(crictl) === undefined) return;
  if (endpoint !== 'npipe:////./pipe/containerd-containerd') throw new ScriptFailure(`no runtime at ${endpoint}`);
  machine.extra.set('pods', []);
}
