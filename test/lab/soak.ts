/**
 * `npm run soak -- --runs 20 --seed 1`: builds while kbuild, its connections and its hosts fail at random moments, again and
 * again; prints the seeds. `--hosts a-cp1,a-w1,a-w2`: other hosts, so that several soaks run at once. `--kinds cut,reboot`:
 * only these faults. `--down`: the hosts are removed in the end.
 */
import { parseArgs } from 'node:util';
import { requireLab } from './build-all.ts';
import { program } from './errors.ts';
import * as lab from './lab.ts';
import { soakRun } from './soak-run.ts';

const { values } = parseArgs({
  options: {
    runs: { type: 'string', default: '20' },
    seed: { type: 'string', default: '1' },
    hosts: { type: 'string', default: 'soak-cp1,soak-w1,soak-w2' },
    kinds: { type: 'string' },
    down: { type: 'boolean', default: false },
  },
});
const first = Number(values.seed);
const hosts = values.hosts.split(',');

async function soak(): Promise<number> {
  await requireLab({ hosts: hosts.length });
  let failed = 0;
  for (let seed = first; seed < first + Number(values.runs); seed++) {
    const say = (text: string): void => void process.stderr.write(`${text}\n`);
    const { faults, seconds, problems } = await soakRun(seed, hosts, say, values.kinds?.split(','));
    const verdict = problems.length === 0 ? 'ok' : `FAILED\n${problems.join('\n')}`;
    process.stdout.write(
      `seed ${String(seed)}: ${faults.join(', ') || 'no fault'}; ${String(seconds)} s; ${verdict}\n`,
    );
    if (problems.length > 0) failed += 1;
  }
  if (values.down) await lab.down(hosts);
  process.stdout.write(`${String(Number(values.runs) - failed)} of ${values.runs} runs ended healthy\n`);
  return failed === 0 ? 0 : 1;
}

await program('soak', soak);
