/**
 * `npm test`: everything that this machine can run, side by side where that saves time. What it cannot run is left out by name, with the
 * reason; with KBUILD_REQUIRE=all that is a failure. The last line counts all tests. `--only a,b` runs some parts, without what they
 * follow.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { installCommand } from './needs/table.ts';
import { closing } from './run/outcome.ts';
import { parts, type Part } from './run/parts.ts';
import { runPart } from './run/run-part.ts';
import { schedule } from './run/schedule.ts';

/** The parts that `--only` names; all without it. @throws RangeError for a name that no part has */
function chosen(all: readonly Part[], args: readonly string[]): readonly Part[] {
  const at = args.indexOf('--only');
  if (at === -1) return all;
  return (args[at + 1] ?? '').split(',').map((name) => {
    const part = all.find((one) => one.name === name);
    if (part === undefined) throw new RangeError(`--only: ${all.map((one) => one.name).join(', ')} (found ${name})`);
    return part;
  });
}

const folder = mkdtempSync(join(tmpdir(), 'kbuild-test-'));
const wanted = chosen(parts(), process.argv.slice(2));
const outcomes = await schedule(wanted, (part) => runPart(part, folder));
rmSync(folder, { recursive: true, force: true });
const ended = new Set(outcomes.map(({ name }) => name));
const notBegun = wanted.map(({ name }) => name).filter((name) => !ended.has(name));
console.log('');
for (const line of closing(outcomes, notBegun, installCommand)) console.log(line);
if (notBegun.length > 0 || outcomes.some(({ failed }) => failed > 0)) process.exitCode ||= 1;
