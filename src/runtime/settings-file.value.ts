import { isDeepStrictEqual } from 'node:util';
import { merged } from '../inventory/merge.ts';
import { isObject, type JsonObject } from '../shell/decode.ts';
import { lines, probeInPlace, type Probe } from '../shell/probe.ts';
import { script } from '../templates.ts';
import type { SharedSettings } from './runtime.value.ts';

/** The two files of `SharedSettings` on a host; undefined for a file that is not there. */
export interface SharedFiles {
  readonly text: string | undefined;
  readonly record: string | undefined;
}

/** kbuild's record of a file, written before it changes the file. */
interface Record {
  /** The file as it was without kbuild; null: there was none. */
  readonly before: string | null;
  /** All settings of the file as kbuild wrote it. */
  readonly wrote: JsonObject;
}

/** Reads both files. Both are missing for a runtime without shared settings. */
export const sharedFiles = (shared: SharedSettings | undefined): Probe<SharedFiles> =>
  probeInPlace(
    script('runtime/probe-shared-settings.sh', { FILES: shared === undefined ? [] : [shared.path, shared.record] }),
    (out): SharedFiles => {
      const [text, record] = lines(out).map((line) =>
        line === 'absent' ? undefined : Buffer.from(line.replace(/^present ?/, ''), 'base64').toString('utf8'),
      );
      return { text, record };
    },
  );

/** Settings as text. */
export const settingsText = (settings: JsonObject): string => `${JSON.stringify(settings, null, 2)}\n`;

/** An empty file counts as one without settings. @throws SyntaxError if the text is no JSON object */
function parsed(text: string | null | undefined): JsonObject {
  if (text === undefined || text === null || text.trim() === '') return {};
  const value: unknown = JSON.parse(text);
  if (!isObject(value)) throw new SyntaxError('it holds no JSON object');
  return value;
}

/**
 * kbuild's record; undefined if there is none, or if it is none of kbuild's: then everything in the file counts as the
 * administrator's.
 */
function recordIn(text: string | undefined): Record | undefined {
  if (text === undefined) return undefined;
  try {
    const { before, wrote } = parsed(text);
    return (typeof before === 'string' || before === null) && isObject(wrote) ? { before, wrote } : undefined;
  } catch {
    return undefined;
  }
}

/** A list without what kbuild added to it. */
const withoutAdded = (now: readonly unknown[], before: readonly unknown[], wrote: readonly unknown[]) =>
  now.filter(
    (item) => !wrote.some((one) => isDeepStrictEqual(one, item)) || before.some((one) => isDeepStrictEqual(one, item)),
  );

/**
 * One setting without kbuild: as before if it is still as kbuild wrote it, else as the administrator changed it since.
 */
function settingWithout(now: unknown, before: unknown, wrote: unknown): unknown {
  if (isDeepStrictEqual(now, wrote)) return before;
  if (!Array.isArray(now) || !Array.isArray(wrote)) return now;
  const left = withoutAdded(now, Array.isArray(before) ? before : [], wrote);
  return left.length === 0 && before === undefined ? undefined : left;
}

/**
 * The text of the file without kbuild's settings; undefined if the file would not exist. Settings that the
 * administrator has changed since stay. @throws SyntaxError if the file is no JSON object
 */
export function withoutKbuild({ text, record: recordText }: SharedFiles): string | undefined {
  const record = recordIn(recordText);
  if (record === undefined || text === undefined) return text;
  const now = parsed(text);
  if (isDeepStrictEqual(now, record.wrote)) return record.before ?? undefined;
  const before = parsed(record.before);
  const left = new Map(Object.entries(now));
  for (const key of new Set([...Object.keys(record.wrote), ...Object.keys(before)])) {
    if (isDeepStrictEqual(record.wrote[key], before[key])) continue;
    const value = settingWithout(now[key], before[key], record.wrote[key]);
    if (value === undefined) left.delete(key);
    else left.set(key, value);
  }
  if (isDeepStrictEqual(Object.fromEntries(left), now)) return text;
  return left.size === 0 && record.before === null ? undefined : settingsText(Object.fromEntries(left));
}

/**
 * Both files as kbuild wants them: its settings over those that are there without it. Files that say this already stay
 * as they are.
 * @throws SyntaxError if the file, as it is, is no JSON object
 */
export function withKbuild(
  files: SharedFiles,
  settings: (there: JsonObject) => JsonObject,
): { readonly text: string; readonly record: string } {
  const before = withoutKbuild(files);
  const there = parsed(before);
  const wrote = merged(there, settings(there));
  const isSame = files.text !== undefined && isDeepStrictEqual(parsed(files.text), wrote);
  const record: Record = { before: before ?? null, wrote };
  return {
    text: isSame ? files.text : settingsText(wrote),
    record:
      files.record !== undefined && isDeepStrictEqual(recordIn(files.record), record)
        ? files.record
        : settingsText({ ...record }),
  };
}
