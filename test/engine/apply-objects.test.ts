import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { script } from '../../src/templates.ts';

const WEBHOOK = 'Error from server (InternalError): failed calling webhook "a.metallb.io": connection refused';

/** Applies one list with a kubectl that fails so often with these words before it succeeds. */
function applied(failures: number, words: string) {
  const folder = mkdtempSync(join(tmpdir(), 'kbuild-apply-'));
  const kubectl = join(folder, 'kubectl');
  const said = `cat > /dev/null; echo x >> calls; [ "$(wc -l < calls)" -gt ${failures} ] || { echo '${words}' >&2; exit 1; }; echo done`;
  writeFileSync(kubectl, `#!/bin/sh\n${said}\n`, { mode: 0o755 });
  writeFileSync(join(folder, 'sleep'), '#!/bin/sh\n', { mode: 0o755 });
  const { script: text } = script('engine/apply-objects.sh', {
    ...{ KUBECTL: kubectl, MANAGER: 'kbuild', FIRST: '{}', CRDS: [], OBJECTS: '' },
  });
  const env = { PATH: `${folder}:${process.env['PATH']!}` };
  const ran = spawnSync('sh', ['-eu', '-c', text], { encoding: 'utf8', cwd: folder, env });
  const calls = readFileSync(join(folder, 'calls'), 'utf8').split('\n').length - 1;
  rmSync(folder, { recursive: true });
  return { ...ran, calls };
}

test('a webhook that does not answer yet is asked again', () => {
  expect(applied(2, WEBHOOK)).toMatchObject({ status: 0, stdout: 'done\n', calls: 3 });
});

test('any other error ends it at once, with its words', () => {
  expect(applied(2, 'the server said no')).toMatchObject({ status: 1, stderr: 'the server said no\n', calls: 1 });
});
