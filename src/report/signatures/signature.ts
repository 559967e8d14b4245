/** A cause that kbuild recognises by the output of a program. */
export interface Signature {
  /** Identifies it in reports. */
  readonly name: string;
  /** True if another failure causes it: reported only if no text shows a cause. */
  readonly symptom?: true;
  /** Matches the output of a failed command, a journal or a container's log. */
  readonly seen: RegExp;
  /** The cause, in one sentence. */
  readonly cause: string;
  /** What to do, in the imperative. */
  readonly remedy: string;
  /** The setting of the inventory that is the cause: without a change of it the same command fails again. */
  readonly setting?: string;
}

/** The remedy if kbuild mends it by itself. */
export const RERUN = 'run the same command again';
