import { createHash } from 'node:crypto';
import { Secret } from '../../shell/secret.ts';
import type { Path } from '../schema/rule.ts';
import { isUrl, type Sources } from './sources.ts';

/** Reports a setting whose file, URL or secret could not be read. */
export type Report = (path: Path, message: string) => void;

/**
 * Reads the files, URLs and secrets that settings refer to. Reports what cannot be read, and returns an empty value for
 * it.
 */
export interface Reader {
  /** UTF-8 text of a file. */
  readonly text: (path: Path, file: string) => Promise<string>;
  /**
   * UTF-8 text of a file or URL; `sha256`: what its bytes must have. Empty without a report where no URL may be
   * fetched.
   */
  readonly source: (path: Path, name: string, sha256: string | undefined) => Promise<string>;
  /** Bytes of a file, one character each. */
  readonly binary: (path: Path, file: string) => Promise<string>;
  /** What a reference `env:`, `file:` or `command:` yields; empty without a report where no command may be run. */
  readonly secret: (path: Path, reference: string) => Promise<Secret>;
  /** The same as one line, without the line end of its file. */
  readonly password: (path: Path, reference: string) => Promise<Secret>;
  /** Any other work that may fail: its error is reported after `subject`. */
  readonly attempt: <T>(path: Path, subject: string, work: () => Promise<T>, otherwise: T) => Promise<T>;
}

const MAX_FILE_BYTES = 8 * 1024 * 1024;

const REASONS: Readonly<Record<string, string>> = {
  ENOENT: 'there is no such file',
  ENOTDIR: 'there is no such file',
  EISDIR: 'is a folder',
  EACCES: 'may not be read by you',
  ELOOP: 'has too many links',
};

/** Why a file could not be read, for people. */
export function reason(error: unknown): string {
  const { code } = error as NodeJS.ErrnoException;
  return REASONS[code ?? ''] ?? (error instanceof Error ? error.message : String(error));
}

function decoded(bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    throw new Error('is no UTF-8 text');
  }
}

function limited(read: Uint8Array): Uint8Array {
  if (read.length > MAX_FILE_BYTES) throw new Error('is larger than 8 MiB');
  return read;
}

function oneLine(text: string): string {
  const value = text.replace(/\r?\n$/, '');
  if (/\p{Cc}/u.test(value)) throw new Error('has several lines or control characters; a password is one line');
  return value;
}

/** A reader of what an inventory in `folder` refers to. */
export function readerOf(folder: string, sources: Sources, report: Report): Reader {
  const bytes = async (name: string): Promise<Uint8Array> =>
    limited(await sources.read(sources.locate(name, folder), MAX_FILE_BYTES + 1));
  const utf8 = async (name: string): Promise<string> => decoded(await bytes(name));
  const checked = async (name: string, sha256: string | undefined): Promise<string> => {
    const read = isUrl(name) ? limited(await sources.fetch!(name, MAX_FILE_BYTES + 1)) : await bytes(name);
    const found = createHash('sha256').update(read).digest('hex');
    if (sha256 !== undefined && found !== sha256)
      throw new Error(`has SHA-256 ${found}, and the inventory says ${sha256}`);
    return decoded(read);
  };
  const attempt: Reader['attempt'] = async (path, subject, work, otherwise) => {
    try {
      return await work();
    } catch (error) {
      report(path, `${subject}: ${reason(error)}`);
      return otherwise;
    }
  };
  const referred = async (reference: string): Promise<string | undefined> => {
    const form = reference.slice(0, reference.indexOf(':'));
    const subject = reference.slice(form.length + 1);
    if (form === 'command') return await sources.command?.(subject);
    const value = form === 'file' ? await utf8(subject) : sources.env[subject];
    if (value === undefined) throw new Error('the environment has no such variable');
    return value;
  };
  const secretOf =
    (trim: (text: string) => string): Reader['secret'] =>
    (path, reference) =>
      attempt(
        path,
        reference,
        async () => {
          const value = await referred(reference);
          if (value !== undefined && trim(value) === '') throw new Error('is empty');
          return Secret.of(trim(value ?? ''));
        },
        Secret.of(''),
      );
  return {
    text: (path, file) => attempt(path, file, () => utf8(file), ''),
    source: (path, name, sha256) =>
      isUrl(name) && sources.fetch === undefined
        ? Promise.resolve('')
        : attempt(path, name, () => checked(name, sha256), ''),
    binary: (path, file) => attempt(path, file, async () => Buffer.from(await bytes(file)).toString('latin1'), ''),
    secret: secretOf((text) => text),
    password: secretOf(oneLine),
    attempt,
  };
}
