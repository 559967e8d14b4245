import { runs } from '../engine/combinators.ts';
import type { Change, Step, Target } from '../engine/step.ts';
import { Refused } from '../errors.ts';
import { fileChanges, fileState } from '../host/file.step.ts';
import { sh } from '../shell/sh.ts';
import type { SharedSettings } from './runtime.value.ts';
import { containerRuntime, type ContainerRuntime } from './runtimes.value.ts';
import { type SharedFiles, withKbuild, withoutKbuild } from './settings-file.value.ts';

/** A change that only refuses: the settings on the host cannot be read as JSON, so nothing can be merged into them. */
const unreadable = ({ host }: Target, path: string, error: unknown): Change => ({
  summary: `write ${path} (found what is no JSON object)`,
  apply: () =>
    Promise.reject(
      new Refused(
        'unreadable-settings',
        host.name,
        `kbuild cannot merge its settings into ${path}: ${(error as Error).message}`,
        `correct ${path}; the runtime itself does not start with it either`,
      ),
    ),
});

/** The mode of the existing file, because an administrator may have restricted it; 0644 for a new file. */
function modeOf(target: Target, path: string): number {
  const state = fileState(target, path);
  return state.kind === 'file' ? state.mode : 0o644;
}

/**
 * The changes that put kbuild's settings into the file that the runtime shares with its administrator. The record comes
 * first. An interrupted run may then have recorded a change that it did not make, which does no harm.
 */
export function sharedSettingsChanges(target: Target): readonly Change[] {
  const { inventory, facts } = target;
  const { shared } = containerRuntime(inventory);
  if (shared === undefined) return [];
  const { path, record, validate } = shared;
  try {
    const wanted = withKbuild(facts.sharedSettings, (there) => shared.settings(inventory, there));
    return [
      ...fileChanges(target, { path: record, content: wanted.record, mode: 0o600 }),
      ...fileChanges(target, { path, content: wanted.text, mode: modeOf(target, path), validate }),
    ];
  } catch (error) {
    if (error instanceof SyntaxError) return [unreadable(target, path, error)];
    throw error;
  }
}

/** The files that these changes write. */
export const sharedSettingsFiles = ({ path, record }: SharedSettings): readonly string[] => [path, record];

/**
 * The changes that take kbuild's settings out of the file that a runtime shares with its administrator. What the
 * administrator has changed since stays, and so does its `mode`. The runtime reads it at its next start: a restart
 * would end the containers of others.
 */
export function settingsTakenOut(
  target: Target,
  { shared, title }: ContainerRuntime,
  files: SharedFiles,
  mode: () => number,
): readonly Change[] {
  const { host } = target;
  if (shared === undefined || files.record === undefined) return [];
  const { path, record } = shared;
  let left: string | undefined;
  try {
    left = withoutKbuild(files);
  } catch (error) {
    if (error instanceof SyntaxError) return [unreadable(target, path, error)];
    throw error;
  }
  return [
    ...(left === files.text
      ? []
      : left === undefined
        ? [{ summary: `remove ${path} (all of it is kbuild's)`, apply: runs(host, sh`rm -f -- ${path}`) }]
        : [
            {
              summary: `take kbuild's settings out of ${path} (${title} reads it at its next start)`,
              apply: async (on: Parameters<NonNullable<Change['apply']>>[0]) => {
                await on(host).write(path, left, mode());
              },
            },
          ]),
    { summary: `remove ${record} (kbuild's record of ${path})`, apply: runs(host, sh`rm -f -- ${record}`) },
  ];
}

/** Takes kbuild's settings out of the file again. */
export const noSharedSettings: Step = {
  name: 'no-shared-settings',
  watches: ({ inventory }) => {
    const { shared } = containerRuntime(inventory);
    return shared === undefined ? {} : { files: sharedSettingsFiles(shared) };
  },
  diff: (target) => {
    const runtime = containerRuntime(target.inventory);
    const mode = (): number => modeOf(target, runtime.shared!.path);
    return settingsTakenOut(target, runtime, target.facts.sharedSettings, mode);
  },
};
