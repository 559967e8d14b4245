/** Runs one part of `npm test`, and counts its tests. */
import { spawn } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Outcome, Skip } from './outcome.ts';
import { isAllRequired } from '../needs/table.ts';
import type { Part } from './parts.ts';

interface Report {
  readonly numPassedTests: number;
  readonly numFailedTests: number;
  readonly numPendingTests: number;
}

const readJson = (path: string): unknown => (existsSync(path) ? JSON.parse(readFileSync(path, 'utf8')) : undefined);

/** Ends the programs of all parts that run; a second signal of the terminal ends this process too. */
const children = new Set<ReturnType<typeof spawn>>();
for (const signal of ['SIGINT', 'SIGTERM'] as const)
  process.once(signal, () => {
    for (const child of children) child.kill(signal);
    process.exitCode = 130;
  });

/** Says to parts that the program is built (lab/global-setup.ts), once it is. */
let isBuilt: { readonly KBUILD_IS_BUILT?: '1' } = {};

/** What a part prints is shown as it comes where nothing runs beside it, and otherwise when it has ended. */
function execute(part: Part, report: string, skips: string): Promise<number> {
  const [program, ...args] = part.command(report);
  const env = { ...process.env, KBUILD_SKIPPED: skips, ...(part.after.includes('build') ? isBuilt : {}) };
  const isLive = part.alone === true || part.name === 'lab build';
  return new Promise((resolve, reject) => {
    const child = spawn(program!, args, {
      env,
      stdio: ['ignore', ...(isLive ? (['inherit', 'inherit'] as const) : (['pipe', 'pipe'] as const))],
    });
    children.add(child);
    const printed: Buffer[] = [];
    child.stdout?.on('data', (chunk: Buffer) => printed.push(chunk));
    child.stderr?.on('data', (chunk: Buffer) => printed.push(chunk));
    child.on('error', reject);
    child.on('close', (code) => {
      children.delete(child);
      if (!isLive) process.stdout.write(`\n=== ${part.name}\n${Buffer.concat(printed).toString()}`);
      resolve(code ?? 1);
    });
  });
}

/** Runs a part; `folder` is where its reports lie. A part that this machine cannot have is left out, or fails if all is required. */
export async function runPart(part: Part, folder: string): Promise<Outcome> {
  const started = performance.now();
  const seconds = (): number => (performance.now() - started) / 1000;
  const { name } = part;
  const lack = part.lack?.();
  if (lack !== undefined) {
    console.log(`=== ${name}: ${isAllRequired() ? 'failed' : 'left out'}: ${lack}`);
    const skip = { name, reason: lack, programs: [] };
    return isAllRequired()
      ? { name, passed: 0, failed: 1, skips: [], seconds: seconds() }
      : { name, passed: 0, failed: 0, skips: part.hasTests ? [skip] : [], seconds: seconds() };
  }
  console.log(`=== ${name} begins`);
  const file = join(folder, name.replaceAll(' ', '-'));
  const status = await execute(part, `${file}.json`, `${file}.skips.json`);
  const report = readJson(`${file}.json`) as Report | undefined;
  const skips = (readJson(`${file}.skips.json`) as { readonly skipped: readonly Skip[] } | undefined)?.skipped ?? [];
  if (name === 'build' && status === 0) isBuilt = { KBUILD_IS_BUILT: '1' };
  // Where a hook failed, its tests are skipped, and nothing took its time.
  const isWhole = status === 0 && report !== undefined;
  const faults = [
    ...(isWhole ? [...(part.verify?.(`${file}.json`) ?? []), ...unnamed(report, skips)] : []),
    ...(part.hasTests && report === undefined ? ['vitest wrote no report'] : []),
  ];
  for (const fault of faults) console.log(fault);
  const failed = Math.max((report?.numFailedTests ?? 0) + faults.length, status === 0 ? 0 : 1);
  console.log(`=== ${name}: ${failed === 0 ? 'ok' : 'FAILED'} after ${seconds().toFixed(0)} s`);
  return { name, passed: report?.numPassedTests ?? 0, failed, skips, seconds: seconds() };
}

/** A test that is skipped without a reason is a fault: it would never run again. */
const unnamed = (report: Report, skips: readonly Skip[]): readonly string[] =>
  report.numPendingTests > skips.length
    ? [`${String(report.numPendingTests - skips.length)} tests are skipped without a reason`]
    : [];
