import type { CommanderError } from 'commander';
import { exitCodeOf, KbuildError, refusalLines, UsageError } from '../errors.ts';
import { isSystemError, nearest, systemRemedy, systemText } from '../shell/text.ts';
import { BUGS } from '../versions.ts';

/** Words of other tools for a command. A destructive one is explained, and never proposed as what was meant. */
const MEANT: Readonly<Record<string, string>> = {
  apply: '`kbuild up` makes the hosts what the inventory says',
  create: '`kbuild up` makes the hosts what the inventory says; `kbuild init` writes an inventory',
  delete:
    'to take one host out of the cluster: `kbuild remove HOST`. To undo the whole cluster with its data: read ' +
    '`kbuild reset --help`',
  deploy: '`kbuild up` makes the hosts what the inventory says',
  destroy: 'to undo the whole cluster with its data: read `kbuild reset --help`',
  diff: '`kbuild plan --diff` shows what would change',
  down: 'kbuild does not stop a cluster: shut its hosts down. To undo it with its data: read `kbuild reset --help`',
  expand: '`kbuild up` joins the hosts that the inventory has and the cluster has not',
  get: '`kbuild status` shows the cluster; kubectl its objects',
  install: '`kbuild up` makes the hosts what the inventory says',
  lint: '`kbuild validate` checks the inventory',
  list: '`kbuild status` shows the cluster',
  logs: '`kbuild report --list` lists the runs and their logs',
  ls: '`kbuild status` shows the cluster',
  preflight: '`kbuild check` looks at the hosts and changes nothing',
  run: '`kbuild up` makes the hosts what the inventory says',
  scale:
    '`kbuild up` joins the hosts that the inventory has and the cluster has not; `kbuild remove HOST` takes one away',
  test: '`kbuild check` looks at the hosts and changes nothing',
  uninstall: 'to undo the whole cluster with its data: read `kbuild reset --help`',
  update: '`kbuild upgrade` changes the version; `kbuild up` applies an edited inventory',
};

/** Commands that take something away: no typing mistake leads to them. */
const DESTRUCTIVE: ReadonlySet<string> = new Set(['remove', 'reset', 'restore', 'unlock']);

/** Options of other tools. */
const OPTIONS: Readonly<Record<string, string>> = {
  '--config': 'the inventory is the operand, or -i FILE',
  '--dry-run': '`kbuild plan` shows what would change, and changes nothing',
  '--file': 'the inventory is the operand, or -i FILE',
  '--force': 'no flag overrides a refusal; --ignore-check NAME lowers the findings of a check',
  '--output': '--json prints results as JSON',
  '--yes': 'a command that destroys data takes the name of what it destroys: --yes-destroy NAME',
  '-f': 'the inventory is the operand, or -i FILE',
  '-n': '`kbuild plan` shows what would change, and changes nothing',
  '-o': '--json prints results as JSON',
  '-y': 'a command that destroys data takes the name of what it destroys: --yes-destroy NAME',
};

/** A command of the program, as far as a mistake is told. */
interface Known {
  /** `kbuild etcd snapshot`. */
  readonly command: string;
  /** Names of the commands below it. */
  readonly names: readonly string[];
}

function unknownCommand(word: string, { command, names }: Known): UsageError {
  const meant = MEANT[word.toLowerCase()];
  const close = nearest(
    word,
    names.filter((name) => !DESTRUCTIVE.has(name)),
  );
  return new UsageError(`"${word}" is no command of ${command}`, {
    remedy: meant ?? (close === undefined ? `${command} --help lists them` : `did you mean "${close}"?`),
  });
}

/** Says a mistake of the command line as all other errors are said. */
export function commandLineError(
  { code, message }: Pick<CommanderError, 'code' | 'message'>,
  known: Known,
): UsageError {
  const [, quoted] = /'([^']*)'/.exec(message) ?? [];
  if (code === 'commander.unknownCommand' && quoted !== undefined) return unknownCommand(quoted, known);
  const text = message
    .replace(/^error: /, '')
    .replace(/\n\(Did you mean (.*)\?\)$/, '; did you mean $1?')
    .replace(/'(-[^']*)' argument '([^']*)' is invalid\. /, '\'$1\': "$2": ');
  const option = code === 'commander.unknownOption' ? OPTIONS[quoted ?? ''] : undefined;
  return new UsageError(text, { remedy: option ?? `see \`${known.command} --help\`` });
}

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
    `  → report it: ${BUGS}. Attach the command line, the text below (kbuild ${version}, Node ` +
      `${process.version}, ${process.platform} ${process.arch}), and the log of the run if its path stands above; ` +
      'kbuild masks the secrets that it knows, but read both before you send them',
    error instanceof Error ? (error.stack ?? error.message) : String(error),
    '',
  ].join('\n');

/** What an operator reads of the error of a command, and the exit code. */
export function ended(error: unknown, version: string): Ended {
  const known = isSystemError(error) ? ofSystem(error) : error;
  const text = known instanceof KbuildError ? ofKbuild(known) : ofBug(known, version);
  return { text, exitCode: exitCodeOf(known) };
}
