/** A command that is killed when it begins a step on a host. */
import { EXIT } from '../../src/exit-codes.ts';
import { start, type Running } from './kbuild.ts';
import { waitUntil } from './wait-until.ts';

const HALF_AN_HOUR = 30 * 60_000;
const MOST_STARTS = 6;

/** Runs a command until it begins this step on a host whose name begins so, and kills it there. Returns how it ended if it did before. */
async function upTo(running: Running, step: string, host: string): Promise<number | null | 'killed'> {
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
  await waitUntil(`${host} is at ${step}`, HALF_AN_HOUR, () => isThere() || ended);
  const isKilled = isThere();
  running.kill('SIGKILL');
  const { code } = await running.ended;
  return isKilled ? 'killed' : code;
}

/**
 * Runs `kbuild ARGS`, which say `--json`, until it begins this step on a host whose name begins so, and kills it there. Starts it again where
 * a busy cluster could not be read, or was not as it should be in time. Throws if it ends otherwise.
 */
export async function killedAtStep(args: readonly string[], step: string, host = ''): Promise<void> {
  for (let starts = 1; ; starts++) {
    const running = start(args);
    const how = await upTo(running, step, host);
    if (how === 'killed') return;
    const isBusy = how === EXIT.unreachable || how === EXIT.notConverged;
    if (!isBusy || starts === MOST_STARTS)
      throw new Error(
        `exit ${String(how)} before ${step} of ${host}:\n${running.printed().slice(-3000)}\n${running.said()}`,
      );
  }
}
