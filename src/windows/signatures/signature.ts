import type { Target } from '../../engine/step.ts';

/** A trouble with Windows workers that is known by how it looks. */
export interface WindowsSignature {
  /** Told apart by this in reports. */
  readonly name: string;
  /** What somebody notices, in plain English. */
  readonly symptom: string;
  /** How to see that it is this one. */
  readonly see: string;
  /** What programs say when it is this one; none where they say nothing of their own. */
  readonly said?: RegExp;
  /** What the facts of a host show when it is this one: what was found. */
  readonly inFacts?: (target: Target<'windows'>) => string | undefined;
  readonly cause: string;
  /** What to do, in the imperative. */
  readonly remedy: string;
  /** What kbuild does about it by itself; `nothing`; `limit`: nobody can, it is how Windows is. */
  readonly mends: string;
}
