/** A command that is killed when it begins a step on a host. */
import { expect } from 'vitest';
import { start } from './kbuild.ts';
import { waitUntil } from './wait-until.ts';

const MINUTES_MS = 15 * 60_000;

/** Runs `kbuild ARGS`, which say `--json`, until it begins this step on a host whose name begins so, and kills it there. Throws if it ends before. */
export async function killedAtStep(args: readonly string[], step: string, host = ''): Promise<void> {
  const running = start(args);
  let ended = false;
  const over = (): void => void (ended = true);
  void running.ended.then(over, over);
  const isThere = (): boolean =>
    running
      .printed()
      .split('\n')
      .some(
        (line) =>
          line.includes('"kind":"changing"') && line.includes(`"step":"${step}"`) && line.includes(`"host":"${host}`),
      );
  await waitUntil(`${host} is at ${step}`, MINUTES_MS, () => isThere() || ended);
  expect(isThere(), `${running.printed().slice(-3000)}\n${running.said()}`).toBe(true);
  running.kill('SIGKILL');
  await running.ended;
}
