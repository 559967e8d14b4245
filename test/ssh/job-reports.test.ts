// @module-tag linux
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { requireProgram } from '../needs/table.ts';

const job = readFileSync(new URL('../../templates/ssh/job.sh', import.meta.url), 'utf8');
const endReports = /^end_reports\(\) \{\n(?:.*\n)*?\}$/m.exec(job)![0];

test(
  'the reports of a job end although tail does not see that its reader has gone (uutils)',
  { tags: ['dash'] },
  () => {
    const script = `set -eu
    sleep 20 >/dev/null & ticker=$!
    sh -c 'sleep 20' 2>/dev/null | sed -n -u p 2>/dev/null &
    teller=$!
    ${endReports}
    end_reports
    echo ended`;
    const from = performance.now();
    const { stdout } = spawnSync(requireProgram('dash'), ['-c', script], { encoding: 'utf8', timeout: 15_000 });
    expect(stdout).toBe('ended\n');
    expect(performance.now() - from).toBeLessThan(15_000);
  },
);
