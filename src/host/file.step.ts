import { runs } from '../engine/combinators.ts';
import type { Change, Step, Target, Unobserved } from '../engine/step.ts';
import { textDiff } from '../engine/text-diff.ts';
import { pathRefused, Refused } from '../errors.ts';
import { OWN_HEADER, paths } from '../paths.ts';
import type { Command } from '../shell/command.ts';
import { Secret, sha256Of } from '../shell/secret.ts';
import { sh } from '../shell/sh.ts';
import type { On } from '../ssh/remote.ts';
import { script } from '../templates.ts';
import type { FileState } from './files.facts.ts';

/** The desired state of a file. */
export interface WantedFile {
  readonly path: string;
  /** undefined: kbuild removes the file. */
  readonly content: string | Secret | undefined;
  /** Default 0644, or 0600 for a Secret. The owner is always root:root. */
  readonly mode?: number;
  /** Checks a candidate file. If the command fails, the file on the host does not change. */
  readonly validate?: (path: string) => Command<'sh'>;
  /** Where kbuild copies a file that it did not write, before it overwrites it for the first time. */
  readonly backup?: string;
}

const octal = (mode: number): string => mode.toString(8).padStart(3, '0');
const defaultMode = (content: string | Secret): number => (content instanceof Secret ? 0o600 : 0o644);

/**
 * The observed state of a path: the probe answers for every named path, so only a file of a watched tree can be
 * missing. Throws a plain `Error` (a bug) for a path that no step watches.
 */
export const fileState = ({ facts }: Pick<Target, 'facts'>, path: string): FileState =>
  facts.files.get(path) ?? { kind: 'absent' };

function difference(state: FileState, wanted: WantedFile, content: string | Secret): string | undefined {
  if (state.kind === 'absent') return 'found none';
  if (state.kind === 'unsafe') return state.why;
  if (state.kind !== 'file') return 'found something that is no file';
  if (state.sha256 !== sha256Of(content)) return 'content differs';
  const mode = wanted.mode ?? defaultMode(content);
  if (state.mode !== mode) return `mode ${octal(state.mode)}`;
  return state.owner === 'root:root' ? undefined : `owner ${state.owner}`;
}

async function write(on: On, { host }: Target, wanted: WantedFile, content: string | Secret): Promise<void> {
  const remote = on(host);
  const { path, validate, backup } = wanted;
  const mode = wanted.mode ?? defaultMode(content);
  if (validate !== undefined) {
    const candidate = `${path}.kbuild-candidate`;
    try {
      await remote.write(candidate, content, mode);
      await remote.run(validate(candidate));
    } finally {
      await remote.run(sh`rm -f -- ${candidate}`);
    }
  }
  if (backup !== undefined)
    await remote.run(script('host/back-up-file.sh', { FILE: path, BACKUP: backup, OURS: OWN_HEADER }));
  await remote.write(path, content, mode);
}

/** Why kbuild does not touch the file at the path; undefined where it may write. */
function refusal(host: string, path: string, state: FileState): Refused | undefined {
  if (state.kind === 'unsafe') return pathRefused(host, `${path}: ${state.why}`);
  return state.kind === 'file' || state.kind === 'absent'
    ? undefined
    : new Refused('not-a-file', host, `${path} is there and is no file`);
}

/**
 * The difference as a preview shows it. A file that not every user of the host can read, or that is not root's, is not
 * shown: previews go to logs and to pull requests.
 */
async function previewOf(on: On, { host }: Target, path: string, state: FileState, content: string | Secret) {
  if (state.kind === 'unsafe') return `${path}\n(not shown: ${state.why})`;
  const isOpen = state.kind !== 'file' || ((state.mode & 0o004) !== 0 && state.owner === 'root:root');
  if (content instanceof Secret || !isOpen) return `${path}\n(secret differs)`;
  return `${path}\n${textDiff(state.kind === 'absent' ? '' : await on(host).read(path), content)}`;
}

/** The changes of one file. They never show its content if the old or the new content is secret. */
export function fileChanges(target: Target, wanted: WantedFile): readonly Change[] {
  const { host } = target;
  const { path, content } = wanted;
  const state = fileState(target, path);
  const refused = refusal(host.name, path, state);
  if (content === undefined) {
    if (state.kind === 'absent') return [];
    const removed = runs(host, sh`rm -f -- ${path}`);
    return [
      {
        summary: `remove ${path}`,
        apply: state.kind === 'unsafe' ? () => Promise.reject(refused!) : removed,
      },
    ];
  }
  const found = difference(state, wanted, content);
  if (found === undefined) return [];
  const preview = (on: On) => previewOf(on, target, path, state, content);
  const apply = refused === undefined ? (on: On) => write(on, target, wanted, content) : () => Promise.reject(refused);
  return [
    {
      summary: `write ${path} (${found})`,
      apply,
      ...(state.kind === 'other' || state.kind === 'folder' ? {} : { preview }),
    },
  ];
}

/** One file with its content, mode and owner. */
export const file = (
  name: string,
  { content, ...rest }: Omit<WantedFile, 'content'> & { readonly content: (target: Target) => WantedFile['content'] },
): Step => ({
  name,
  watches: { files: [rest.path] },
  diff: (target) => fileChanges(target, { ...rest, content: content(target) }),
});

/** Several files; the inventory and the host decide which ones. */
export const files = (name: string, wanted: (about: Unobserved) => readonly WantedFile[]): Step => ({
  name,
  watches: (about) => ({ files: wanted(about).map(({ path }) => path) }),
  diff: (target) => wanted(target).flatMap((desired) => fileChanges(target, desired)),
});

/**
 * Records a path as kbuild's and saves the old file before kbuild writes the new one: an interruption loses nothing.
 */
function recorded({ host, facts }: Target, path: string, change: Change): Change {
  if (facts.distributedFiles.includes(path)) return change;
  const { apply } = change;
  if (apply === undefined) return change;
  const note = runs(host, script('host/note-file.sh', { FILE: path, RECORD: paths.distributed, KEPT: paths.replaced }));
  return {
    ...change,
    apply: async (on) => {
      await note(on);
      await apply(on);
    },
  };
}

const filesOf = ({ inventory, host }: Unobserved) => inventory.files.filter(({ hosts }) => hosts.includes(host.name));

/**
 * Writes the files that the inventory distributes to this host. Removes those that it no longer names, or restores the
 * old files.
 */
export const distributedFiles: Step = {
  name: 'files',
  watches: (about) => ({ files: filesOf(about).map(({ path }) => path) }),
  diff: (target) => {
    const { host, facts } = target;
    const wanted = filesOf(target);
    const unwanted = facts.distributedFiles.filter((path) => !wanted.some((file) => file.path === path));
    return [
      ...wanted.flatMap((file) => fileChanges(target, file).map((change) => recorded(target, file.path, change))),
      ...unwanted.map((path) => ({
        summary: `take back ${path} (not in the inventory any more)`,
        apply: runs(
          host,
          script('host/take-back-file.sh', { FILE: path, RECORD: paths.distributed, KEPT: paths.replaced }),
        ),
      })),
    ];
  },
};
