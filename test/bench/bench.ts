/**
 * `npm run bench -- [N…]`: the same 25 checks on N hosts by kbuild's transport, by the 30-line floor and by
 * `xargs -P20 ssh`, in the same run. Prints CSV: who, N, wall and controller CPU in seconds, peak memory in MiB, and the
 * machine's load. With `--out DIR` also bench.csv and bench.svg there. Needs root.
 */
import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { loadavg } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { chart, type Row } from './chart.ts';
import { benchFleet } from './fleet.ts';

const here = fileURLToPath(new URL('.', import.meta.url));
const words = process.argv.slice(2);
const out = words.includes('--out') ? words[words.indexOf('--out') + 1] : undefined;
const sizes = words.filter((word) => /^\d+$/.test(word)).map(Number);
const fleet = benchFleet();
const checks = join(here, 'checks.sh');
// Compiled once, so that nobody pays for TypeScript while it is measured.
const compiled = join(here, '../../node_modules/.cache/kbuild-bench');
mkdirSync(compiled, { recursive: true });
const esbuild = (name: string) =>
  spawnSync(
    'npx',
    [
      'esbuild',
      join(here, `${name}.ts`),
      '--bundle',
      '--platform=node',
      '--format=esm',
      '--packages=external',
      `--outfile=${join(compiled, `${name}.mjs`)}`,
      '--log-level=error',
    ],
    { stdio: 'inherit' },
  );

/** Runs a program in the namespace; wall and CPU of it and its children, from /usr/bin/time's own rusage. */
function measure(who: string, hosts: number, command: readonly string[]): Row {
  const times = join(fleet.folder, 'times');
  const program = `import resource,subprocess,sys,time,json
t=time.monotonic(); s=subprocess.run(sys.argv[2:],stdout=subprocess.DEVNULL).returncode; w=time.monotonic()-t
r=resource.getrusage(resource.RUSAGE_CHILDREN); json.dump([w,r.ru_utime+r.ru_stime,r.ru_maxrss/1024,s],open(sys.argv[1],'w'))`;
  spawnSync('ip', ['netns', 'exec', fleet.namespace, 'python3', '-c', program, times, ...command], {
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  const [wall, cpu, memory, status] = JSON.parse(readFileSync(times, 'utf8')) as [number, number, number, number];
  if (status !== 0) throw new Error(`${who} failed with ${String(status)}`);
  return { who, hosts, wall, cpu, memory, load: loadavg()[0]! };
}

const rows: Row[] = [];
const say = ({ who, hosts, wall, cpu, memory, load }: Row) =>
  [who, hosts, wall.toFixed(2), cpu.toFixed(2), memory.toFixed(0), load.toFixed(1)].join(',');
try {
  for (const name of ['floor', 'transport']) esbuild(name);
  console.log('who,hosts,wall_s,cpu_s,memory_mib,load');
  for (const count of sizes.length > 0 ? sizes : [1, 10, 50, 200, 500]) {
    const hosts = Array.from({ length: count }, (_, index) => fleet.address(index));
    const ssh = `printf '%s\\n' ${hosts.join(' ')} | xargs -P20 -I{} sh -c 'ssh -F none -o BatchMode=yes -o UserKnownHostsFile=${fleet.knownHostsFile} -i ${fleet.identityFile} root@{} /bin/sh -s <${checks} >/dev/null 2>&1'`;
    for (const row of [
      () => measure('floor', count, ['node', join(compiled, 'floor.mjs'), fleet.identityFile, checks, ...hosts]),
      () =>
        measure('kbuild', count, [
          'node',
          join(compiled, 'transport.mjs'),
          fleet.identityFile,
          fleet.knownHostsFile,
          checks,
          ...hosts,
        ]),
      () => measure('xargs-ssh', count, ['sh', '-c', ssh]),
    ]) {
      rows.push(row());
      console.log(say(rows.at(-1)!));
    }
  }
  if (out !== undefined) {
    mkdirSync(out, { recursive: true });
    writeFileSync(join(out, 'bench.csv'), `who,hosts,wall_s,cpu_s,memory_mib,load\n${rows.map(say).join('\n')}\n`);
    writeFileSync(join(out, 'bench.svg'), chart(rows));
  }
} finally {
  fleet.stop();
}
