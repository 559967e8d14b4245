/** The lab could not do what was asked. The message says what to do about it. Exit 1. */
export class LabError extends Error {
  override readonly name: string = 'LabError';
  readonly exitCode: number = 1;
}

/** This machine cannot be a lab yet, or the command line is wrong; said before anything is changed. Exit 2. */
export class Unmet extends LabError {
  override readonly name = 'Unmet';
  override readonly exitCode = 2;
}
