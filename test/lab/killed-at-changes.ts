/** A command that is killed at the first change that each of its runs tells, until a run ends. */
import { eventsOf, start, type Ran } from './kbuild.ts';
import { waitUntil } from './wait-until.ts';

const MOST_STARTS = 80;
const MINUTES_MS = 10 * 60_000;

/** How that went. */
export interface KilledAtChanges {
  /** The run that ended by itself. */
  readonly last: Ran;
  /** Runs that were killed. None of them had ended by itself with an error. */
  readonly kills: number;
  /** The changes that the killed runs told, a line each, in order. */
  readonly made: readonly string[];
}

/** Starts kbuild, which lives until its end or until it tells a first change. */
async function upToAChange(args: readonly string[]): Promise<Ran> {
  const running = start([...args, '--json']);
  let over = false;
  const end = (): void => void (over = true);
  void running.ended.then(end, end);
  await waitUntil('a change, or the end', MINUTES_MS, () => over || running.printed().includes('"kind":"changed"'));
  running.kill('SIGKILL');
  return running.ended;
}

/** The changes that a run told, a line each; the last line of one that was killed may be torn. */
const changesOf = ({ stdout }: Ran): readonly string[] =>
  eventsOf({ stdout: stdout.slice(0, stdout.lastIndexOf('\n') + 1) }).flatMap((event) =>
    event.kind === 'changed' ? [`${event.host}: ${event.summary}`] : [],
  );

/** Runs `kbuild ARGS` until it is not killed. Prints how often it was. @throws if a run fails by itself */
export async function killedAtChanges(args: readonly string[]): Promise<KilledAtChanges> {
  const from = performance.now();
  const made: string[] = [];
  let kills = 0;
  let last = await upToAChange(args);
  for (; last.code !== 0 && kills < MOST_STARTS; last = await upToAChange(args)) {
    if (last.code !== null) throw new Error(`exit ${String(last.code)}:\n${last.stdout}\n${last.stderr}`);
    kills += 1;
    made.push(...changesOf(last));
  }
  console.log(
    `killed ${String(kills)} times in ${((performance.now() - from) / 1000).toFixed(0)} s:\n${made.join('\n')}`,
  );
  return { last, kills, made };
}
