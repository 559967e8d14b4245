import { readdirSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { Bound } from './bounds.ts';
import type { Row } from './measure.ts';
import { addresses, plan, type Bench } from './sweep.ts';

const MIB = 1024 * 1024;
/** Runs of each program: they take turns, so that a busy moment meets both. */
const TIMES = 7;

const middleOf = (values: readonly number[]): number =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)]!;

/** Bytes of the files in a folder. */
const bytesIn = (folder: string): number =>
  readdirSync(folder).reduce((sum, name) => sum + statSync(join(folder, name)).size, 0);

/** What a record costs: CPU and wall time over the same program without one, and at 200 hosts its size and memory. */
export async function recording(bench: Bench): Promise<readonly Bound[]> {
  const { fleet, programs } = bench;
  const without: Bench = { ...bench, programs: { ...programs, kbuild: programs.unrecorded } };
  const bounds: Bound[] = [];
  for (const count of [50, 200]) {
    const hosts = addresses(fleet, count);
    const state = join(fleet.folder, `state-${String(count)}`);
    const [recorded, bare]: [Row[], Row[]] = [[], []];
    let bytes = 0;
    for (let i = 0; i < TIMES; i++) {
      const env = { ...bench.asChecks, XDG_STATE_HOME: state };
      const pair: readonly (() => Promise<void>)[] = [
        async () => void bare.push(await plan(without, 'plan, not recorded', hosts, env)),
        async () => void recorded.push(await plan(bench, 'plan, recorded', hosts, env)),
      ];
      for (const run of i % 2 === 0 ? pair : pair.toReversed()) await run();
      const runs = join(state, 'kbuild/bench/runs');
      bytes = bytesIn(runs);
      rmSync(runs, { recursive: true });
    }
    for (const row of [...bare, ...recorded]) bench.say(row);
    for (const what of ['cpu', 'wall'] as const) {
      const [mine, theirs] = [middleOf(recorded.map((row) => row[what])), middleOf(bare.map((row) => row[what]))];
      bounds.push({
        name: `${what === 'cpu' ? 'CPU' : 'wall time'} of a recorded plan over one that is not, ${String(count)} hosts`,
        measured: mine / theirs,
        unit: '×',
        limit: 1.02,
        fine: 'at most',
        beside: `${mine.toFixed(2)} s beside ${theirs.toFixed(2)} s, the middle of ${String(TIMES)} each`,
      });
    }
    const more = middleOf(recorded.map(({ memory }) => memory)) - middleOf(bare.map(({ memory }) => memory));
    if (count === 200)
      bounds.push({
        name: 'record, trace and memory for them, 200 hosts',
        measured: bytes / MIB + Math.max(0, more),
        unit: 'MiB',
        limit: 50,
        fine: 'at most',
        beside: `${(bytes / MIB).toFixed(1)} MiB in files, ${more.toFixed(1)} MiB more memory`,
      });
  }
  return bounds;
}
