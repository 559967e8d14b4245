// @module-tag shellcheck
/** Reading all scripts takes shellcheck seconds, so it is no unit test. */
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { filesIn } from '../tools/files-in.ts';

const templates = fileURLToPath(new URL('../../templates/', import.meta.url));
const scripts = filesIn('templates', '.sh');

test('shellcheck has no warning', { timeout: 300_000 }, () => {
  expect(scripts.length).toBeGreaterThan(50);
  // Parameters are set outside; the mode of mkdir -p is meant for its last folder; every sh of a host knows -nt.
  const args = ['-s', 'sh', '-S', 'warning', '-e', 'SC2154,SC2174,SC3013', ...scripts];
  const { status, stdout, stderr } = spawnSync('shellcheck', args, { cwd: templates, encoding: 'utf8' });
  expect({ status, stdout, stderr }).toEqual({ status: 0, stdout: '', stderr: '' });
});
