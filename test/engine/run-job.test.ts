import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { script } from '../../src/templates.ts';

/** Runs a Job whose conditions kubectl tells so, one answer a question and the last one from then on. */
function ran(answers: readonly string[], { replaced = '', limit = '60' } = {}) {
  const folder = mkdtempSync(join(tmpdir(), 'kbuild-job-'));
  const cases = answers.map((answer, i) => `${i === answers.length - 1 ? '*' : String(i + 1)}) ${answer} ;;`).join(' ');
  const kubectl =
    'case $* in *apply*) cat > /dev/null; echo "$1" >> said ;; *delete*) echo "$*" >> said ;; ' +
    `*) echo x >> asked; case $(wc -l < asked) in ${cases} esac ;; esac`;
  writeFileSync(join(folder, 'kubectl'), `#!/bin/sh\n${kubectl}\n`, { mode: 0o755 });
  writeFileSync(join(folder, 'sleep'), '#!/bin/sh\n', { mode: 0o755 });
  const { script: text } = script('engine/run-job.sh', {
    ...{ KUBECTL: join(folder, 'kubectl'), MANAGER: 'kbuild', JOB: '{}', NAMESPACE: 'shop', NAME: 'migrate' },
    ...{ LIMIT: limit, REPLACED: replaced },
  });
  const env = { PATH: `${folder}:${process.env['PATH']!}` };
  const { status, stderr } = spawnSync('sh', ['-eu', '-c', text], { encoding: 'utf8', cwd: folder, env });
  const said = readFileSync(join(folder, 'said'), 'utf8').trim().split('\n');
  rmSync(folder, { recursive: true });
  return { status, stderr, said };
}

test('waits until the Job has completed, also while the API does not answer', () => {
  const { status, said } = ran(["echo ''", 'exit 1', 'echo "SuccessCriteriaMet Complete "']);
  expect([status, said]).toEqual([0, ['apply']]);
});

test('deletes the Job first that it replaces', () => {
  const { said } = ran(['echo "Complete "'], { replaced: 'yes' });
  expect(said).toEqual(['-n shop delete job/migrate --ignore-not-found --cascade=foreground', 'apply']);
});

test('a Job that fails ends it at once with the command that shows why', () => {
  const { status, stderr } = ran(['echo "FailureTarget Failed "']);
  expect(status).toBe(1);
  expect(stderr).toContain('the Job migrate in shop failed: kubectl -n shop logs');
});

test('a Job that does not end is not waited for without end', () => {
  const { status, stderr } = ran(["echo ''"], { limit: '0' });
  expect(status).toBe(1);
  expect(stderr).toContain('did not complete within 0 s');
});
