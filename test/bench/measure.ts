import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { loadavg } from 'node:os';
import { join } from 'node:path';
import type { BenchFleet } from './fleet.ts';

/** One measurement: seconds, MiB, and the machine's load when it ended. */
export interface Row {
  readonly who: string;
  readonly hosts: number;
  readonly wall: number;
  /** User and system, of the program and all its children. */
  readonly cpu: number;
  /** Of the largest process. */
  readonly memory: number;
  readonly load: number;
}

const PROGRAM = `import os,subprocess,sys,time,json
t=time.monotonic(); p=subprocess.Popen(sys.argv[2:]); _,s,r=os.wait4(p.pid,0); w=time.monotonic()-t
json.dump([w,r.ru_utime+r.ru_stime,r.ru_maxrss/1024,os.waitstatus_to_exitcode(s)],open(sys.argv[1],'w'))`;

/** How a program is run. */
export interface MeasureOptions {
  readonly env?: Readonly<Record<string, string>>;
  /** Exit statuses that are fine; default 0. */
  readonly statuses?: readonly number[];
}

/** Runs a program in the fleet's network and measures it from its start to its end. Rejects when it fails. */
export async function measure(
  fleet: Pick<BenchFleet, 'enter' | 'folder'>,
  who: string,
  hosts: number,
  command: readonly string[],
  { env = {}, statuses = [0] }: MeasureOptions = {},
): Promise<Row & { readonly stdout: string }> {
  const times = join(fleet.folder, `times-${String(process.hrtime.bigint())}`);
  const [enter, ...words] = fleet.enter;
  const child = spawn(enter!, [...words, 'python3', '-c', PROGRAM, times, ...command], {
    stdio: ['ignore', 'pipe', 'pipe'],
    // Node reads such a file at every start, whatever it runs: this machine's business.
    env: { ...process.env, NODE_EXTRA_CA_CERTS: undefined, XDG_STATE_HOME: join(fleet.folder, 'state'), ...env },
  });
  let [stdout, stderr] = ['', ''];
  child.stdout.on('data', (chunk: Buffer) => (stdout += chunk.toString()));
  child.stderr.on('data', (chunk: Buffer) => (stderr = (stderr + chunk.toString()).slice(-4000)));
  await once(child, 'close');
  const [wall, cpu, memory, status] = JSON.parse(readFileSync(times, 'utf8')) as [number, number, number, number];
  if (!statuses.includes(status)) throw new Error(`${who} ended with ${String(status)}: ${stderr}`);
  return { who, hosts, wall, cpu, memory, load: loadavg()[0]!, stdout };
}

/** The quickest of a few measurements: the others had to wait for another program. */
export const quickest = (rows: readonly Row[]): Row => rows.toSorted((a, b) => a.wall - b.wall)[0]!;

/** The middle one of a few measurements by wall time, with the middle one of their CPU times: one pause of the machine changes neither. */
export const middle = <R extends Row>(rows: readonly R[]): R => {
  const sorted = (what: 'wall' | 'cpu'): R => rows.toSorted((a, b) => a[what] - b[what])[Math.floor(rows.length / 2)]!;
  return { ...sorted('wall'), cpu: sorted('cpu').cpu };
};
