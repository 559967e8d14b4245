import type { Target } from '../../engine/step.ts';

/** A known problem or limitation of Windows workers, and how to recognise it. */
export interface WindowsSignature {
  /** Unique; reports and the docs use it. */
  readonly name: string;
  /** What the operator notices. */
  readonly symptom: string;
  /** How to confirm that it is this problem. */
  readonly see: string;
  /** Matches a line that programs log only for this problem. */
  readonly said?: RegExp;
  /** What was observed on the host, if its facts show this problem; undefined otherwise. */
  readonly inFacts?: (target: Target<'windows'>) => string | undefined;
  readonly cause: string;
  /** What to do, in the imperative. */
  readonly remedy: string;
  /** What kbuild does about it. `nothing`: the operator must act. `limit`: Windows works this way. */
  readonly mends: string;
}
