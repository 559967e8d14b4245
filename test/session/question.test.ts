import { PassThrough } from 'node:stream';
import { describe, expect, test } from 'vitest';
import { DeadlinePassed, exitCodeOf } from '../../src/errors.ts';
import { askQuestion } from '../../src/session/context.ts';

const CTRL_C = '\u0003';
const CTRL_D = '\u0004';

function asking(answer: 'shown' | 'hidden', signal?: AbortSignal) {
  const input = new PassThrough();
  const output = new PassThrough();
  let text = '';
  output.on('data', (chunk: Buffer) => (text += chunk.toString()));
  const answered = askQuestion({ input, output }, 'Carry out this plan? [y/N] ', answer, signal);
  return { input, answered, text: () => text };
}

describe.each(['shown', 'hidden'] as const)('a question whose answer is %s', (answer) => {
  test('is answered by a line', async () => {
    const { input, answered } = asking(answer);
    input.write('y\n');
    expect(await answered).toBe('y');
  });

  test.each([
    ['Ctrl-C', (input: PassThrough) => input.write(CTRL_C)],
    ['Ctrl-D', (input: PassThrough) => input.write(CTRL_D)],
    ['an input that ends', (input: PassThrough) => input.end()],
  ])('ends with 130 on %s, and the next output begins on a new line', async (_, act) => {
    const { input, answered, text } = asking(answer);
    setImmediate(() => act(input));
    const error: unknown = await answered.catch((failure: unknown) => failure);
    expect(exitCodeOf(error)).toBe(130);
    expect((error as Error).message).toMatch(/^interrupted/);
    expect(text()).toMatch(/\n$/);
  });

  test('fails with the reason of the run when the run is stopped meanwhile', async () => {
    const controller = new AbortController();
    const { answered } = asking(answer, controller.signal);
    setImmediate(() => controller.abort(new DeadlinePassed('not done within 1 min')));
    await expect(answered).rejects.toThrow('not done within 1 min');
  });
});

test('the terminal shows nothing of what is typed as soon as a hidden question is there to be answered', async () => {
  const done: string[] = [];
  const input = Object.assign(new PassThrough(), {
    isTTY: true,
    setRawMode: (raw: boolean) => done.push(`raw ${String(raw)}`),
  });
  const output = new PassThrough();
  output.on('data', (chunk: Buffer) => done.push(chunk.toString()));
  const answered = askQuestion({ input, output }, 'Passphrase: ', 'hidden');
  input.write('secret\n');
  expect(await answered).toBe('secret');
  expect(done).toEqual(['raw true', 'Passphrase: ', 'raw false', '\n']);
});
