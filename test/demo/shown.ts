import { type ChildProcess, spawn } from 'node:child_process';
import { LabError } from '../lab/errors.ts';
import { progress } from '../lab/progress.ts';

/** The demo was interrupted. Exit 128 + the number of the signal. */
class Interrupted extends LabError {
  override readonly name = 'Interrupted';
  override readonly exitCode: number;
  constructor(signal: 'SIGINT' | 'SIGTERM' | 'SIGHUP') {
    super('interrupted');
    this.exitCode = 128 + { SIGHUP: 1, SIGINT: 2, SIGTERM: 15 }[signal];
  }
}

let child: ChildProcess | undefined;
let interruption: Interrupted | undefined;

/** Throws when the demo was interrupted: between two things that it does. */
export function goOn(): void {
  if (interruption !== undefined) throw interruption;
}

/** From now on a signal ends no process of its own: `goOn` throws, so that what was made can be removed. */
export function heedSignals(): void {
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
    process.on(signal, () => {
      interruption ??= new Interrupted(signal);
      // A terminal sends its Ctrl-C to the child, too. kbuild ends what it has begun.
      if (signal !== 'SIGINT') child?.kill(signal);
    });
}

/** Runs a program that shows what it does. @throws LabError when it fails, or the demo was interrupted */
export async function shown(name: string, args: readonly string[]): Promise<void> {
  goOn();
  progress(`$ ${[name, ...args].join(' ')}`);
  await new Promise<void>((resolve, reject) => {
    child = spawn(name, args, { stdio: 'inherit' });
    child.on('error', reject);
    child.on('exit', (code) =>
      code === 0 ? resolve() : reject(new LabError(`${name} ended with status ${String(code)}`)),
    );
  }).catch((error: unknown) => {
    goOn();
    throw error;
  });
  goOn();
}
