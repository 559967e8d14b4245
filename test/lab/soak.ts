/** `npm run soak -- --runs 20 --seed 1`: kills kbuild at random moments of a build, again and again; prints the seeds. */
import { parseArgs } from 'node:util';
import { soakRun } from './soak-run.ts';

const HOSTS = ['soak-cp1', 'soak-w1', 'soak-w2'];

const { values } = parseArgs({
  options: { runs: { type: 'string', default: '20' }, seed: { type: 'string', default: '1' } },
});
const first = Number(values.seed);
let failed = 0;
for (let seed = first; seed < first + Number(values.runs); seed++) {
  const { kills, seconds, problems } = await soakRun(seed, HOSTS, (text) => process.stderr.write(`${text}\n`));
  const verdict = problems.length === 0 ? 'ok' : `FAILED\n${problems.join('\n')}`;
  process.stdout.write(
    `seed ${String(seed)}: killed at ${kills.map((at) => `${String(at)} s`).join(', ') || 'no moment'}; ${String(seconds)} s; ${verdict}\n`,
  );
  if (problems.length > 0) failed += 1;
}
process.stdout.write(`${String(Number(values.runs) - failed)} of ${values.runs} runs ended healthy\n`);
process.exitCode = failed === 0 ? 0 : 1;
