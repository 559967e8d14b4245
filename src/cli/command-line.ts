import { CommanderError } from 'commander';
import { exitCodeOf, KbuildError } from '../errors.ts';
import { shownText } from './context.ts';
import { program } from './program.ts';

/** Runs the command line; the exit code. Errors are printed here and nowhere else. */
export async function run(argv: readonly string[], version: string): Promise<number> {
  let code = 0;
  try {
    await program(version, (result) => (code = result)).parseAsync(argv);
    return code;
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2;
    if (error instanceof KbuildError) {
      process.stderr.write(
        shownText(
          [
            `kbuild: ${error.message}`,
            ...(error.remedy === undefined ? [] : [`  → ${error.remedy}`]),
            ...(error.closing === undefined ? [] : [error.closing]),
            '',
          ].join('\n'),
          process,
        ),
      );
    } else {
      process.stderr.write(
        shownText(
          `kbuild: this is a bug in kbuild, please report it\n${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`,
          process,
        ),
      );
    }
    return exitCodeOf(error);
  }
}
