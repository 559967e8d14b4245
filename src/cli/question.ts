import { createInterface } from 'node:readline/promises';
import { Writable } from 'node:stream';
import { Interrupted } from '../errors.ts';

/** The terminal of a question. */
interface AskedOn {
  readonly input: NodeJS.ReadableStream;
  readonly output: NodeJS.WritableStream;
}

/**
 * Asks one question; `hidden` shows nothing of what is typed. @throws Interrupted on Ctrl-C, on Ctrl-D and when the input
 * ends; the reason of `signal` when it is aborted meanwhile
 */
export async function askQuestion(
  { input, output }: AskedOn,
  question: string,
  answer: 'shown' | 'hidden',
  signal?: AbortSignal,
): Promise<string> {
  signal?.throwIfAborted();
  if (answer === 'hidden') output.write(question);
  // readline echoes to its output: what is typed goes nowhere then.
  const echo = answer === 'shown' ? output : new Writable({ write: (_chunk, _encoding, done) => done() });
  const reader = createInterface({ input, output: echo, terminal: true });
  try {
    return await new Promise<string>((resolve, reject) => {
      let isOver = false;
      const once = (end: () => void): void => {
        if (isOver) return;
        isOver = true;
        end();
      };
      const stop = (error: Error): void =>
        once(() => {
          // The next output begins on a new line.
          if (answer === 'shown') output.write('\n');
          reject(error);
        });
      // readline takes Ctrl-C for itself: no signal reaches the process while it asks.
      reader.on('SIGINT', () => stop(new Interrupted('interrupted at a question')));
      reader.on('close', () => stop(new Interrupted('interrupted: the input ended at a question')));
      signal?.addEventListener('abort', () => stop(signal.reason as Error), { once: true });
      reader.question(answer === 'shown' ? question : '').then((text) => once(() => resolve(text)), reject);
    });
  } finally {
    reader.close();
    if (answer === 'hidden') output.write('\n');
  }
}
