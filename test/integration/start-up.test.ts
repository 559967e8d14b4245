import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

const program = fileURLToPath(new URL('../../node_modules/.bin/kbuild', import.meta.url));

/** The median wall time of a command, in ms. */
function median(command: string, args: readonly string[]): number {
  const times = Array.from({ length: 7 }, () => {
    const from = performance.now();
    spawnSync(command, args);
    return performance.now() - from;
  });
  return times.toSorted((a, b) => a - b)[3]!;
}

test('kbuild --version takes at most 3.5 times as long as a node that does nothing', () => {
  const { stdout } = spawnSync(program, ['--version'], { encoding: 'utf8' });
  const { version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as {
    version: string;
  };
  expect(stdout).toBe(`${version}\n`);
  const bare = median(process.execPath, ['-e', '0']);
  const ours = median(program, ['--version']);
  console.log(`kbuild --version ${ours.toFixed(0)} ms, node -e 0 ${bare.toFixed(0)} ms`);
  expect(ours).toBeLessThan(3.5 * bare);
});

test('every command has help that ends with examples', () => {
  const { stdout } = spawnSync(program, ['--help'], { encoding: 'utf8' });
  const commands = [...stdout.matchAll(/^ {2}([a-z]+)(?:\|[a-z]+)?(?: \[| )/gm)]
    .map(([, name]) => name!)
    .filter((name) => name !== 'help');
  expect(commands).toEqual(
    expect.arrayContaining(['init', 'validate', 'schema', 'check', 'plan', 'up', 'status', 'reset']),
  );
  for (const name of [
    'init',
    'validate',
    'schema',
    'check',
    'plan',
    'up',
    'status',
    'kubeconfig',
    'reset',
    'facts',
    'unlock',
  ]) {
    const help = spawnSync(program, [name, '--help'], { encoding: 'utf8' });
    expect(help.stdout, name).toMatch(/Examples:\n(?: {2}kbuild .*\n)+\s*$/);
  }
});

test('what is wrong with the command line is said, and exits 2', () => {
  expect(spawnSync(program, ['up', '--no-such-flag'], { encoding: 'utf8' })).toMatchObject({ status: 2 });
  const missing = spawnSync(program, ['validate', '/no/such/file'], { encoding: 'utf8' });
  expect(missing.status).toBe(2);
  expect(missing.stderr + missing.stdout).toContain('/no/such/file');
});

test.each([
  ['certs renw', '"renw" is no command of kbuild certs, and no file', 'did you mean "renew"? A file is written ./renw'],
  ['backup verfy', '"verfy" is no command of kbuild backup, and no file', 'did you mean "verify"?'],
  ['explain podSubnet', '"podSubnet" is no whole name of a setting', 'kbuild explain network.podSubnet'],
  ['explain cni', '"cni" is no whole name of a setting', 'kbuild explain network.plugin'],
  ['help nope', '"nope" is no command of kbuild', 'kbuild --help lists them'],
  ['nope --help', '"nope" is no command of kbuild', 'kbuild --help lists them'],
])('%s: what was meant, before any host is contacted', (line, message, remedy) => {
  const { status, stderr } = spawnSync(process.execPath, [program, ...line.split(' ')], { encoding: 'utf8' });
  expect(status).toBe(2);
  expect(stderr).toContain(`kbuild: ${message}`);
  expect(stderr).toContain(`→ ${remedy}`);
});

test('help about a command is asked for in each usual way', () => {
  const said = [
    ['validate', '--help'],
    ['help', 'validate'],
    ['-h', 'validate'],
    ['help', 'certs', 'renew'],
  ].map((words) => spawnSync(process.execPath, [program, ...words], { encoding: 'utf8' }));
  for (const { status, stdout } of said) expect({ status, stdout }).toMatchObject({ status: 0 });
  expect(new Set(said.slice(0, 3).map(({ stdout }) => stdout))).toEqual(
    new Set([expect.stringMatching(/^Usage: kbuild validate /)]),
  );
  expect(said[3]!.stdout).toMatch(/^Usage: kbuild certs renew /);
});

test('teardown is reset, in its help too', () => {
  const said = (...words: readonly string[]) => {
    const { status, stdout, stderr } = spawnSync(process.execPath, [program, ...words], { encoding: 'utf8' });
    return { status, stdout, stderr };
  };
  expect(said('teardown', '/no/such/file')).toEqual(said('reset', '/no/such/file'));
  expect(said('teardown', '--help')).toEqual(said('reset', '--help'));
  expect(said('help', 'teardown').stdout).toMatch(/^Usage: kbuild reset\|teardown /);
  expect(said('teardown', '--yes').stderr).toMatch(/--yes-destroy NAME/);
});

test('a folder that was removed while a shell is in it is named', { tags: ['linux'] }, () => {
  const folder = mkdtempSync(join(tmpdir(), 'kbuild-gone-'));
  const line = 'cd "$0" && rmdir "$0" && exec "$@"';
  const args = ['-c', line, folder, process.execPath, program, 'validate'];
  expect(spawnSync('sh', args, { encoding: 'utf8' })).toMatchObject({
    status: 2,
    stderr: 'kbuild: the folder in which you are was removed\n  → go to another one\n',
  });
});
