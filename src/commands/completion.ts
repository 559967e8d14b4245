import { UsageError } from '../errors.ts';
import type { Context } from '../session/context.ts';
import { nearest } from '../shell/text.ts';
import { completionScript } from '../templates.ts';
import { type CompletionOptions, SHELLS } from './tools.command.ts';

/** `kbuild completion SHELL`: the script for a shell. @throws UsageError for a shell without one */
export function runCompletion(
  context: Context,
  _flags: CompletionOptions,
  [name = '']: readonly string[],
): Promise<number> {
  const shell = SHELLS.find((one) => one === name);
  if (shell === undefined) {
    const close = nearest(name, SHELLS);
    throw new UsageError(`there is no script for "${name}"${close === undefined ? '' : `; did you mean "${close}"?`}`, {
      remedy: `one of ${SHELLS.join(', ')}`,
    });
  }
  context.out(completionScript(shell));
  return Promise.resolve(0);
}
