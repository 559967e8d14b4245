import { runsOnWindows } from '../engine/combinators.ts';
import type { Change, Step, Target } from '../engine/step.ts';
import { textDiff } from '../engine/text-diff.ts';
import { Refused } from '../errors.ts';
import { Secret, sha256Of } from '../shell/secret.ts';
import { powershell } from '../templates.ts';
import type { WindowsFile } from './files.facts.ts';

/** The desired state of a file of a Windows host. */
interface WantedWindowsFile {
  readonly path: string;
  /** undefined: kbuild removes the file. */
  readonly content: string | Secret | undefined;
}

function difference(state: WindowsFile | undefined, content: string | Secret): string | undefined {
  if (state === undefined) return 'found none';
  if (state.kind === 'folder') return 'found a folder';
  return state.sha256 === sha256Of(content) ? undefined : 'content differs';
}

/** The changes of one file of a Windows host. They never show the content of a secret. */
export function windowsFileChanges({ host, facts }: Target<'windows'>, wanted: WantedWindowsFile): readonly Change[] {
  const { path, content } = wanted;
  const state = facts.files.at(path);
  if (content === undefined) {
    if (state === undefined) return [];
    return [
      {
        summary: `remove ${path}`,
        apply: runsOnWindows(host, powershell('windows/remove-paths.ps1', { Paths: [path] })),
      },
    ];
  }
  const found = difference(state, content);
  if (found === undefined) return [];
  const summary = `write ${path} (${found})`;
  if (state?.kind === 'folder')
    return [
      { summary, apply: () => Promise.reject(new Refused('not-a-file', host.name, `${path} is there and is no file`)) },
    ];
  return [
    {
      summary,
      apply: async (on) => {
        await on(host).write(path, content);
      },
      preview: async (on) =>
        content instanceof Secret
          ? `${path}\n(secret differs)`
          : `${path}\n${textDiff(state === undefined ? '' : await on(host).read(path), content)}`,
    },
  ];
}

/** One file of a Windows host. */
export const windowsFile = (
  name: string,
  path: string,
  content: (target: Target<'windows'>) => WantedWindowsFile['content'],
): Step<'windows'> => ({
  name,
  watches: { files: [path] },
  diff: (target) => windowsFileChanges(target, { path, content: content(target) }),
});

/** The changes of a folder in which kbuild removes all files that are not wanted. `root` ends in a backslash. */
export function windowsFolderChanges(
  target: Target<'windows'>,
  root: string,
  wanted: readonly WantedWindowsFile[],
): readonly Change[] {
  const kept = new Set(wanted.map(({ path }) => path.toLowerCase()));
  const unmanaged = target.facts.files
    .under(root)
    .filter(({ kind, path }) => kind === 'file' && !kept.has(path.toLowerCase()));
  return [
    ...wanted.flatMap((file) => windowsFileChanges(target, file)),
    ...unmanaged.flatMap(({ path }) => windowsFileChanges(target, { path, content: undefined })),
  ];
}
