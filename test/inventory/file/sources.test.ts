import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { localSources } from '../../../src/inventory/file/sources.ts';
import { readPlainFile } from '../../../src/shell/plain-file.ts';

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'kbuild-sources-'));
});
afterAll(() => rmSync(folder, { recursive: true }));

const sources = (reach: 'local' | 'all' = 'all') => localSources({ env: { HOME: '/home/user' }, cwd: folder, reach });

test('paths: home, the folder of the inventory, the working directory', () => {
  const { locate } = sources();
  expect([locate('~/a', '/x'), locate('~', '/x'), locate('a', '/x'), locate('/a', '/x'), locate('a', 'x')]).toEqual([
    '/home/user/a',
    '/home/user',
    '/x/a',
    '/a',
    join(folder, 'x/a'),
  ]);
});

test('a file is read up to the limit and no further', async () => {
  writeFileSync(join(folder, 'big'), 'x'.repeat(200_000));
  const { read, list } = sources();
  expect((await read(join(folder, 'big'), 100_001)).length).toBe(100_001);
  expect((await read(join(folder, 'big'), 300_000)).length).toBe(200_000);
  expect((await read('/dev/zero', 1_000)).length).toBe(1_000);
  expect(await list(folder)).toEqual(['big']);
  await expect(read(join(folder, 'gone'), 1)).rejects.toMatchObject({ code: 'ENOENT' });
});

test('a pipe is refused at once, because it may never end; one that the shell made for this process is read', async () => {
  const pipe = join(folder, 'pipe');
  execFileSync('mkfifo', [pipe]);
  await expect(sources().read(pipe, 10)).rejects.toThrow(/^is a pipe, not a file$/);
  expect(() => readPlainFile(pipe)).toThrow(/^is a pipe, not a file$/);
  rmSync(pipe);
  const inventory =
    "printf 'name: x' | node -e 'import(process.argv[1]).then(async ({ openPlainFile, readPlainFile }) => console.log((await openPlainFile(`/dev/fd/0`)).fd > 0, String(readPlainFile(`/dev/stdin`))))'";
  const module = new URL('../../../src/shell/plain-file.ts', import.meta.url).pathname;
  expect(
    execFileSync('sh', ['-c', `${inventory.replace('node ', 'node --import tsx ')} '${module}'`], { encoding: 'utf8' }),
  ).toBe('true name: x\n');
});

test('a command returns its output; its error shows none of it', async () => {
  const command = sources().command!;
  expect(await command('printf "%s\\n" "a  b"')).toBe('a  b\n');
  await expect(command('echo hunter2; echo hunter2 >&2; exit 3')).rejects.toThrow(/^exit status 3$/);
});

test('a signing command gets a request and its purpose; its error shows its stderr', async () => {
  const filter = sources().filter!;
  expect(await filter('read line; echo "$line $KBUILD_HOST"', 'PEM\n', { KBUILD_HOST: 'cp1' })).toBe('PEM cp1\n');
  expect(await filter('echo deaf', 'x'.repeat(1_000_000), {})).toBe('deaf\n');
  await expect(filter('echo out; echo "no such slot" >&2; exit 3', '', {})).rejects.toThrow(
    /^exit status 3\nno such slot$/,
  );
});

test('a URL is fetched, and an error status is an error', async () => {
  const server = createServer((request, response) => {
    response.statusCode = request.url === '/b' ? 404 : 200;
    if (request.url !== '/endless') {
      response.end('text');
      return;
    }
    const more = (): void => {
      while (!response.destroyed && response.write('x'.repeat(10_000)));
    };
    response.on('drain', more);
    more();
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  try {
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const get = async (path: string, limit: number) =>
      Buffer.from(await sources().fetch!(`${url}${path}`, limit)).toString();
    expect(await get('/a', 100)).toBe('text');
    expect(await get('/a', 2)).toBe('te');
    expect((await get('/endless', 200_000)).length).toBe(200_000);
    await expect(get('/b', 100)).rejects.toThrow('404 Not Found');
  } finally {
    server.close();
  }
});

test('local sources neither run commands nor fetch URLs', () => {
  expect(sources('local')).not.toHaveProperty('fetch');
  expect(sources('local')).not.toHaveProperty('command');
  expect(sources('local')).not.toHaveProperty('filter');
});
