import { exitCodeOf, KbuildError, refusalLines, UsageError } from '../errors.ts';
import { BUGS } from '../project.ts';
import { isSystemError, systemRemedy, systemText } from '../shell/system-error.ts';

/** The error with which a command ends, as text and exit code. */
interface Ended {
  readonly text: string;
  readonly exitCode: number;
}

const ofKbuild = (error: KbuildError): string =>
  [
    `kbuild: ${error.message}`,
    ...(error.remedy === undefined ? [] : [`  → ${error.remedy}`]),
    ...refusalLines(error),
    ...(error.closing === undefined ? [] : [error.closing]),
    '',
  ].join('\n');

/** The disk, the network or the rights of this machine stopped the command: nothing that a report could mend. */
function ofSystem(error: NodeJS.ErrnoException): UsageError {
  const { path, syscall } = error;
  const about = path ?? (syscall === 'write' ? 'the output' : `the system call ${syscall ?? ''}`);
  return new UsageError(`${about}: ${systemText(error)}`, { remedy: systemRemedy(error), cause: error });
}

const ofBug = (error: unknown, version: string): string =>
  [
    'kbuild: this is a bug in kbuild, and not in your inventory or your hosts',
    `  → report it: ${BUGS}. Attach the command line, the text below (kbuild ${version}, Node ${process.version}, ${process.platform} ${process.arch}), and the log of the run if its path stands above; kbuild masks the secrets that it knows, but read both before you send them`,
    error instanceof Error ? (error.stack ?? error.message) : String(error),
    '',
  ].join('\n');

/** What an operator reads of the error of a command, and the exit code. */
export function ended(error: unknown, version: string): Ended {
  const known = isSystemError(error) ? ofSystem(error) : error;
  const text = known instanceof KbuildError ? ofKbuild(known) : ofBug(known, version);
  return { text, exitCode: exitCodeOf(known) };
}
