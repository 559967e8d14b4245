/**
 * `npm run bench`: how long `kbuild plan` takes beside the floor, xargs and ansible, and what else docs/performance.md
 * promises. Prints every measurement and every bound; `--help` tells its flags. Root, and what the lab needs.
 */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { format, resolveConfig } from 'prettier';
import { requireLab } from '../lab/build-all.ts';
import { program } from '../lab/errors.ts';
import { inside } from '../lab/lab.ts';
import { hostSettings } from '../lab/host-settings.ts';
import { ansible } from './ansible.ts';
import { boundTable, boundText, kept, type Bound } from './bounds.ts';
import { chart } from './chart.ts';
import { blackHole, held, many, push, roundTrips, start } from './edges.ts';
import { benchFleet, SYSTEM } from './fleet.ts';
import { look } from './look.ts';
import type { Row } from './measure.ts';
import type { System } from './observe.ts';
import { benchPrograms } from './programs.ts';
import { recording } from './recording.ts';
import { addresses, plan, sweep, sweepBounds, sweepProbes, type Bench } from './sweep.ts';

/** The parts of the bench, in the order in which they run. */
const PARTS = ['sweep', 'probes', 'look', 'round-trips', 'held', 'black-hole', 'recording', 'push', 'start', 'many'];

const USAGE = `npm run bench -- [--only PART,…] [--sizes HOSTS,…] [--many HOSTS,…] [--write]

Measures kbuild beside what a user would use instead. Exit 1: a bound is missed. It needs root, and what the lab needs.

  --only PART,…    these parts alone: ${PARTS.join(', ')}
  --sizes HOSTS,…  the fleets of sweep and probes (1,10,50,200,500)
  --many HOSTS,…   the fleets of many (1000,5000)
  --write          puts table, CSV and chart into docs/`;

function usage(text: string, code: number): never {
  (code === 0 ? console.log : console.error)(text);
  process.exit(code);
}

/** The words of the command line, or the way out. */
function wordsOf(words: readonly string[]) {
  const text = { type: 'string' } as const;
  const flag = { type: 'boolean' } as const;
  try {
    const options = { only: text, sizes: text, many: text, write: flag, help: flag };
    return parseArgs({ args: [...words], options }).values;
  } catch (error) {
    return usage(`${(error as Error).message}\n\n${USAGE}`, 2);
  }
}

const { only, write = false, help = false, ...fleets } = wordsOf(process.argv.slice(2));
if (help) usage(USAGE, 0);
const parts = only?.split(',');
const unknown = parts?.find((part) => !PARTS.includes(part));
if (unknown !== undefined) usage(`--only ${unknown}: there is no such part\n\n${USAGE}`, 2);
const wanted = (part: string): boolean => parts?.includes(part) ?? true;

function numbers(flag: 'sizes' | 'many', otherwise: string): readonly number[] {
  const found = (fleets[flag] ?? otherwise).split(',').map(Number);
  return found.every((one) => Number.isInteger(one) && one > 0)
    ? found
    : usage(`--${flag} wants numbers of hosts: --${flag} ${otherwise}`, 2);
}

const sizes = numbers('sizes', '1,10,50,200,500');
const manySizes = numbers('many', '1000,5000');
const docs = fileURLToPath(new URL('../../docs', import.meta.url));
const checks = fileURLToPath(new URL('checks.sh', import.meta.url));

/** How often floor and plan are measured in turns, by hosts; 50 hosts have a bound of CPU time, whose single measurements differ by 5 %. */
const TIMES: ReadonlyMap<number, number> = new Map([
  [50, 7],
  [200, 3],
]);

const rows: Row[] = [];
const line = ({ who, hosts, wall, cpu, memory, load }: Row): string =>
  [`"${who}"`, hosts, wall.toFixed(2), cpu.toFixed(2), memory.toFixed(0), load.toFixed(1)].join(',');
const HEADER = 'who,hosts,wall_s,cpu_s,memory_mib,load';
const say = (row: Row): void => {
  rows.push(row);
  console.log(line(row));
};

/** What stands between the marks of a page is the bench's. */
async function intoPage(path: string, text: string): Promise<void> {
  const MARK = '<!-- bench -->\n';
  const [before, , after] = readFileSync(path, 'utf8').split(MARK);
  if (before === undefined || after === undefined) throw new Error(`${path} has no two lines ${MARK}`);
  const page = `${before}${MARK}\n${text}\n\n${MARK}${after}`;
  writeFileSync(path, await format(page, { ...(await resolveConfig(path)), filepath: path }));
}

async function runBench(): Promise<number> {
  await requireLab({ hosts: 1, packages: ['python3'] });
  const fleet = await benchFleet();
  let missed = false;
  try {
    const at = (name: string) => join(fleet.folder, name);
    const programs = await benchPrograms(fleet.folder, [
      'floor',
      'look-floor',
      'held',
      'push',
      'delay-proxy',
      'server',
    ]);
    const [machineId, mac] = (
      await inside(SYSTEM, 'cat /etc/machine-id; ip -o link show eth0 | sed "s/.*ether //; s/ .*//"')
    ).stdout.split('\n');
    const system: System = {
      hostname: SYSTEM,
      machineId: machineId!,
      mac: mac!,
      address: hostSettings(SYSTEM).address,
    };
    const asProbes = { KBUILD_BENCH_SYSTEM: JSON.stringify(system) };
    const asChecks = { ...asProbes, KBUILD_BENCH_CHECKS: checks, KBUILD_BENCH_RECORDED: at('recorded') };
    const bench: Bench = {
      fleet,
      programs,
      checks,
      probes: at('probes'),
      asProbes,
      asChecks,
      ansible: ansible(fleet, checks),
      say,
    };
    // The answers that stand for the probes' where others are run, and the script for the floor that runs it too.
    const record = { ...asProbes, KBUILD_BENCH_RECORD: at('recorded'), KBUILD_BENCH_SCRIPT: bench.probes };
    await plan(bench, 'recording', addresses(fleet, 1), record);

    console.log(HEADER);
    const compared: Row[] = [];
    if (wanted('sweep'))
      for (const count of sizes) compared.push(...(await sweep(bench, count, TIMES.get(count) ?? 1)));
    if (wanted('probes'))
      for (const count of sizes.filter((one) => one >= 50)) compared.push(...(await sweepProbes(bench, count)));
    const bounds: Bound[] = [...sweepBounds(compared)];
    if (wanted('look')) bounds.push(...(await look(fleet.folder, programs, say)));
    for (const [part, run] of Object.entries({
      'round-trips': roundTrips,
      held,
      'black-hole': blackHole,
      recording,
      push,
      start,
    }))
      if (wanted(part)) bounds.push(...(await run(bench)));
    if (wanted('many')) bounds.push(...(await many(bench, manySizes)));

    for (const bound of bounds) console.log(boundText(bound));
    if (bounds.some((bound) => !kept(bound))) missed = true;
    if (write) {
      mkdirSync(join(docs, 'performance'), { recursive: true });
      writeFileSync(join(docs, 'performance/bench.csv'), `${HEADER}\n${rows.map(line).join('\n')}\n`);
      writeFileSync(join(docs, 'performance/wall.svg'), chart(compared.filter(({ who }) => !who.includes('probes'))));
      await intoPage(
        join(docs, 'performance.md'),
        `${boundTable(bounds)}\n\n![Wall time over hosts](performance/wall.svg)\n\nEvery measurement: [bench.csv](performance/bench.csv).`,
      );
    }
  } finally {
    await fleet.stop();
  }
  return missed ? 1 : 0;
}

await program('bench', runBench);
