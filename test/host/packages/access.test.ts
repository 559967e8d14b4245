// @module-tag flock
/** Logins of registries on a host: the script of a survey with a registry that a test speaks for. */
import { spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingHttpHeaders, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { downloads } from '../../../src/host/packages/downloads.survey.ts';
import { revealed, Secret } from '../../../src/shell/secret.ts';
import { script, using } from '../../../src/templates.ts';
import { linuxHost } from '../../fakes/inventory.ts';

let folder: string;
let server: Server;
let url: string;
/** Called for each request. */
let asked: (headers: IncomingHttpHeaders, response: ServerResponse) => void;

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'kbuild-access-'));
  server = createServer(({ headers }, response) => asked(headers, response));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  url = `http://127.0.0.1:${String((server.address() as AddressInfo).port)}/v2/a/manifests/1`;
});
afterEach(() => {
  server.closeAllConnections();
  server.close();
  rmSync(folder, { recursive: true });
});

const inRun = (): readonly string[] => readdirSync(folder).filter((name) => name !== 'survey.lock');

/** A survey of one image with a login, as a process. */
function survey() {
  const parameters = { WANTED: `image 0 ${url}`, ACCESS_IN: folder, ARCHITECTURE: '' };
  const command = using(
    'host/packages/download-with-curl.sh',
    script('host/packages/survey-downloads.sh', { ...parameters, PROXY: '', HTTPS_PROXY: '', NO_PROXY: '' }),
  );
  const child = spawn('sh', ['-euc', command.script], { detached: true });
  const login = Buffer.from('Authorization: Basic c2VjcmV0').toString('base64');
  child.stdin.end(`0.header ${login}\n`);
  const ended = new Promise<void>((resolve) => child.once('close', () => resolve()));
  return { child, ended };
}

/** Settles with the login of the next request, which is answered only if the test says so. */
const nextRequest = (answer: 'answered' | 'open') =>
  new Promise<string | undefined>((resolve) => {
    asked = ({ authorization }, response) => {
      if (answer === 'answered') response.end('{}');
      resolve(authorization);
    };
  });

test('a login goes to the registry, lies in a folder of root’s alone meanwhile, and is gone afterwards', async () => {
  const request = nextRequest('open');
  const { child, ended } = survey();
  expect(await request).toBe('Basic c2VjcmV0');
  const [name] = inRun();
  expect(statSync(join(folder, name!)).mode & 0o777).toBe(0o700);
  expect(statSync(join(folder, name!, '0.header')).mode & 0o777).toBe(0o600);
  child.kill('SIGTERM');
  server.closeAllConnections();
  await ended;
  expect(inRun()).toEqual([]);
});

test('what a killed survey left is removed by the next one, and that of a running one stays', async () => {
  let request = nextRequest('open');
  const killed = survey();
  await request;
  process.kill(-killed.child.pid!, 'SIGKILL');
  await killed.ended;
  const [left] = inRun();
  expect(existsSync(join(folder, left!, '0.header'))).toBe(true);

  request = nextRequest('open');
  const running = survey();
  await request;
  expect(existsSync(join(folder, left!))).toBe(false);
  const [own] = inRun();

  request = nextRequest('answered');
  const next = survey();
  await request;
  await next.ended;
  expect(inRun()).toEqual([own]);
  process.kill(-running.child.pid!, 'SIGKILL');
  await running.ended;
});

test('a login is on the stdin of the survey, and in no command', async () => {
  const sent: { readonly script: string; readonly input: Secret | undefined }[] = [];
  const host = linuxHost('w1');
  const osRelease = { id: 'debian', idLike: [], versionId: '12', codename: 'bookworm', prettyName: 'Debian 12' };
  const registry = { host: 'r.example', ca: 'PEM', authorization: Secret.of('Authorization: Basic c2VjcmV0') };
  const wanted = [{ kind: 'image', what: 'a', urls: ['https://r.example/v2/a/manifests/1'], registry }] as const;
  await downloads(
    () => ({
      run: ({ script: text }, input) => {
        sent.push({ script: text, input });
        return Promise.resolve('');
      },
      hold: () => Promise.reject(new Error('not held')),
    }),
    [{ host, facts: { osRelease, arch: 'x86_64' }, wanted }],
    undefined,
  );
  expect(sent).toHaveLength(1);
  expect(sent[0]!.script).not.toContain('c2VjcmV0');
  const lines = revealed(sent[0]!.input!).trim().split('\n');
  expect(lines.map((line) => line.split(' ')[0])).toEqual(['0.ca', '0.header']);
  expect(Buffer.from(lines[1]!.split(' ')[1]!, 'base64').toString()).toBe('Authorization: Basic c2VjcmV0');
});

test('a user that downloads can make root write nothing, and what it links to is no download', () => {
  const bin = join(folder, 'bin');
  mkdirSync(bin);
  const program = (name: string, text: string): void =>
    writeFileSync(join(bin, name), `#!/bin/sh\n${text}\n`, { mode: 0o755 });
  program('chown', `echo "$@" >>${folder}/owners`);
  // apt-helper is named by its path.
  program(
    'timeout',
    `for last; do :; done; ln -s ${folder}/precious "$last"; ln -sf ${folder}/precious "$(dirname "$last")/error"`,
  );
  writeFileSync(join(folder, 'precious'), 'precious');
  const fetch = script('host/packages/fetch.sh', {
    URL: 'https://a.example/k',
    PROXY: '',
    HTTPS_PROXY: '',
    NO_PROXY: '',
  });
  const { script: text } = using('host/packages/debian/download.sh', fetch);
  const { status, stdout, stderr } = spawnSync('sh', ['-euc', text], {
    encoding: 'utf8',
    env: { PATH: `${bin}:${process.env['PATH'] ?? ''}`, TMPDIR: folder },
  });
  expect({ status, stdout, stderr }).toEqual({
    status: 1,
    stdout: '',
    stderr: 'E: what was downloaded is no file\n',
  });
  const owners = spawnSync('cat', [join(folder, 'owners')], { encoding: 'utf8' }).stdout;
  expect(owners).toMatch(/^_apt \S+\n0 \S+\n$/);
});
