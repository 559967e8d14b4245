import { createHash } from 'node:crypto';
import type { FileState } from '../../src/host/files.facts.ts';

/** When a fake host's files were written, ms since the epoch. */
export const WRITTEN_MS = 1_795_000_000_000;

/** A file of root's with this content. */
export const fileWith = (content: string, mode = 0o644, mtimeMs = WRITTEN_MS): FileState => ({
  kind: 'file',
  sha256: createHash('sha256').update(content).digest('hex'),
  mode,
  owner: 'root:root',
  mtimeMs,
});

/** Files by path with their content or state, for `target({ files: … })`; all other watched paths are absent. */
export const filesWith = (states: Readonly<Record<string, string | FileState>>): ReadonlyMap<string, FileState> =>
  new Map(
    Object.entries(states).map(([path, state]) => [path, typeof state === 'string' ? fileWith(state) : state] as const),
  );
