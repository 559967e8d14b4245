/** A cause that kbuild recognises by the output of a program. */
export interface Signature {
  /** Told apart by this in reports. */
  readonly name: string;
  /** Others cause it: named only where none of them shows in any text. */
  readonly symptom?: true;
  /** Matches what a failed command, a journal or a container's log says. */
  readonly seen: RegExp;
  /** What it means, one sentence. */
  readonly cause: string;
  /** What to do, in the imperative. */
  readonly remedy: string;
}

/** What to do where kbuild mends it by itself. */
export const RERUN = 'run the same command again';
