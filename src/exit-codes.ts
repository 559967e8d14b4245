/** The exit codes of kbuild, by name. Scripts rely on the numbers: `EXIT_CODES` says what each means. */
export const EXIT = {
  done: 0,
  bug: 1,
  usage: 2,
  unreachable: 3,
  command: 4,
  notConverged: 5,
  checks: 6,
  refused: 7,
  changesDue: 10,
  interrupted: 130,
} as const;

/** An exit code of kbuild. */
type ExitCode = (typeof EXIT)[keyof typeof EXIT];

/** What an exit code means: `kbuild explain exit` and docs/cli.md. */
export interface ExitCodePage {
  readonly code: ExitCode;
  /** In one line. */
  readonly title: string;
  /** What it says about the hosts and the run. Markdown. */
  readonly why: string;
  /** What the operator does next. Markdown. */
  readonly remedy: string;
}

/** Every exit code, in the order of the numbers. */
export const EXIT_CODES: readonly ExitCodePage[] = [
  {
    code: EXIT.done,
    title: 'done, nothing to do, or declined at the question',
    why: 'The command did what it promises. The hosts match the inventory as far as the command looked at them.',
    remedy: 'Nothing.',
  },
  {
    code: EXIT.bug,
    title: 'a bug in kbuild',
    why: 'kbuild met a state that its authors did not expect. The message has the place in the program.',
    remedy: 'Report it with the log, whose path is printed. Run the same command again: it goes on where it stopped.',
  },
  {
    code: EXIT.usage,
    title: 'the inventory or the command line is wrong, or the question could not be asked; nothing was changed',
    why:
      'kbuild contacted no host, or it only read: without a terminal no operator can confirm a plan that has ' +
      'changes.',
    remedy: 'Correct what the message names (`kbuild validate` shows every problem), or pass `--yes`.',
  },
  {
    code: EXIT.unreachable,
    title: 'a host could not be reached or read',
    why: 'SSH failed, or a fact could not be observed. kbuild does not guess: what it cannot see, it does not change.',
    remedy: 'Bring the host back and run the same command again, or name it with `--dead` if it is gone.',
  },
  {
    code: EXIT.command,
    title: 'a command on a host failed',
    why: 'A program on the host ended with an error. The message shows the last lines that it printed.',
    remedy: 'Mend the cause on the host, then run the same command again: finished work is not repeated.',
  },
  {
    code: EXIT.notConverged,
    title:
      "changes were made, but a host does not match in time, or the run's deadline passed; `status`: the cluster " +
      'is not healthy',
    why: 'The commands succeeded, and what kbuild observes afterwards still differs from the inventory.',
    remedy: 'See what is still needed (the message, `kbuild status`, `kbuild plan`), then run the same command again.',
  },
  {
    code: EXIT.checks,
    title: 'preflight checks failed; nothing was changed',
    why:
      'A check found something that `up` cannot mend, or could not observe it. A cluster built on it would fail ' +
      'later.',
    remedy: 'Mend the findings, which `kbuild check` lists with remedies, or lower one with `--ignore-check NAME`.',
  },
  {
    code: EXIT.refused,
    title:
      'refused: quorum, a foreign cluster or CA, leftovers of unknown origin, a version step, an immutable ' +
      'setting, or another run holds the lock',
    why: 'The change would lose data or a cluster, or another run is at work. No flag overrides a refusal.',
    remedy:
      'Do what the message says; `kbuild explain refusal` lists the reasons. `kbuild unlock` shows the holders ' +
      'of locks.',
  },
  {
    code: EXIT.changesDue,
    title: '`plan --detailed-exitcode`: changes are due',
    why: 'The plan has changes, and nothing else is wrong. Errors win over it.',
    remedy: 'Run `kbuild up` if the changes are wanted.',
  },
  {
    code: EXIT.interrupted,
    title: 'interrupted; where it stands was printed',
    why: 'Ctrl-C or SIGTERM ended the run. Work that was under way on hosts was brought to a safe end.',
    remedy: 'Run the same command again: it goes on where it stopped.',
  },
];

/**
 * Which exit code wins when several apply, the most serious first. 10 is not among them: an error beats it, and 0
 * is what is left.
 */
export const SERIOUSNESS: readonly ExitCode[] = [
  EXIT.bug,
  EXIT.interrupted,
  EXIT.usage,
  EXIT.refused,
  EXIT.checks,
  EXIT.unreachable,
  EXIT.command,
  EXIT.notConverged,
];
