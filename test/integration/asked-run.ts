/**
 * A run on a real terminal, by the real engine, display and question: w1 is changed beyond the plan, and asks. Sets the title of the
 * terminal to `at NAME` where something is to be seen.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { converge } from '../../src/engine/converge.ts';
import { RunRenderer } from '../../src/report/run-renderer.ts';
import { runProgress } from '../../src/report/run-progress.ts';
import { lookOf } from '../../src/report/terminal.ts';
import { askQuestion } from '../../src/session/context.ts';
import { bareRun } from '../engine/bare-run.ts';
import { host, linuxPhase, wants } from '../engine/world.ts';

const hosts = [host('w1'), host('w2')];
let answered = (): void => undefined;
const answer = new Promise<void>((resolve) => (answered = resolve));
/** Past the display: it is no text that would have to appear above the lines. */
const write = process.stderr.write.bind(process.stderr);
const title = (name: string): void => void write(`\u001B]2;at ${name}\u0007`);
/** Long enough that it is drawn. */
const drawn = (): Promise<void> => sleep(300);
const key = (): Promise<void> =>
  new Promise((resolve) => {
    process.stdin.setRawMode(true);
    process.stdin.resume();
    process.stdin.once('data', () => {
      process.stdin.setRawMode(false);
      process.stdin.pause();
      resolve();
    });
  });

const step = wants('word', {
  apply: async ({ name }) => {
    if (name === 'w1') return;
    await answer;
    await drawn();
    title('answered');
    await key();
  },
});
const phases = [linuxPhase('join', hosts, [step])];
const progress = runProgress(phases);
const outcome = await converge({
  ...bareRun(phases, hosts, { planned: new Set(['join/w2/has-word']) }),
  asks: true,
  approve: async (summary) => {
    const question = askQuestion(
      { input: process.stdin, output: process.stderr },
      `${summary}. Do it? [y/N] `,
      'shown',
    );
    await drawn();
    title('question');
    const isAgreed = (await question) === 'y';
    answered();
    return isAgreed;
  },
  emit: (event) => progress.note({ time: new Date().toISOString(), ...event }),
  display: {
    renderer: RunRenderer as never,
    rendererOptions: { progress, stream: process.stderr, nowMs: Date.now, look: lookOf({}, 'never') },
  },
});
process.stderr.write(`${String(outcome.changes)} changes\n`);
title('end');
await key();
process.exit(0);
