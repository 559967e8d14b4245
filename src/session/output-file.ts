import { access, constants, stat, writeFile } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { UsageError } from '../errors.ts';
import { systemRemedy, systemText } from '../shell/system-error.ts';
import type { Context } from './context.ts';

const unwritable = (path: string, error: unknown): UsageError =>
  new UsageError(`${path} cannot be written: ${systemText(error)}`, { remedy: systemRemedy(error), cause: error });

/**
 * Called before a host is contacted: a path that cannot be written is told before the work, not after it.
 * @throws UsageError
 */
export async function checkOutputFiles(
  { cwd }: Pick<Context, 'cwd'>,
  paths: readonly (string | undefined)[],
): Promise<void> {
  for (const path of paths) {
    if (path === undefined) continue;
    const file = resolve(cwd, path);
    try {
      const found = await stat(file).catch(() => undefined);
      if (found?.isDirectory() === true) throw Object.assign(new Error('is a folder'), { code: 'EISDIR' });
      await access(found === undefined ? dirname(file) : file, constants.W_OK);
    } catch (error) {
      throw unwritable(path, error);
    }
  }
}

/** Writes a file that the operator named. @throws UsageError */
export async function writeOutputFile({ cwd }: Pick<Context, 'cwd'>, path: string, content: string): Promise<void> {
  await writeFile(resolve(cwd, path), content).catch((error: unknown) => {
    throw unwritable(path, error);
  });
}
