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

/** Runs a program of the lab to its end: what it could not do is told without a stack, and is the exit code. */
export async function program(name: string, work: () => Promise<number | undefined>): Promise<void> {
  try {
    process.exitCode = (await work()) ?? 0;
  } catch (error) {
    if (!(error instanceof LabError)) throw error;
    process.stderr.write(`${name}: ${error.message}\n`);
    process.exitCode = error.exitCode;
  }
}
