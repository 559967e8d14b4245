// @module-tag linux
// @module-tag openssl
/** Scripts that download on a host, with a site over TLS that leads to one without. */
import { execFile, execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer as createPlain } from 'node:http';
import { createServer } from 'node:https';
import type { AddressInfo, Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { script, using } from '../../../src/templates.ts';

const folder = mkdtempSync(join(tmpdir(), 'kbuild-tls-'));
/** Requests without TLS, with their logins. */
const inPlain: string[] = [];
let servers: readonly Server[] = [];
let plain = '';
let secure = '';

const listening = (server: Server): Promise<string> =>
  new Promise((resolve) => {
    server.listen(0, '127.0.0.1', () => resolve(`127.0.0.1:${String((server.address() as AddressInfo).port)}`));
  });

beforeAll(async () => {
  const request = [
    'req',
    '-x509',
    '-newkey',
    'ec',
    '-pkeyopt',
    'ec_paramgen_curve:P-256',
    '-nodes',
    '-subj',
    '/CN=site',
  ];
  const out = ['-addext', 'subjectAltName=IP:127.0.0.1', '-keyout', join(folder, 'key'), '-out', join(folder, 'ca')];
  execFileSync('openssl', [...request, ...out], { stdio: 'pipe' });
  const insecure = createPlain(({ url, headers: { authorization = 'no login' } }, response) => {
    inPlain.push(`${url!} ${authorization}`);
    response.end('replaced');
  });
  plain = `http://${await listening(insecure)}`;
  const tls = { cert: readFileSync(join(folder, 'ca')), key: readFileSync(join(folder, 'key')) };
  const site = createServer(tls, ({ url }, response) => {
    response.writeHead(302, { location: `${plain}${url!}` }).end();
  });
  secure = `https://${await listening(site)}`;
  servers = [insecure, site];
});
afterAll(() => {
  for (const server of servers) server.close();
  rmSync(folder, { recursive: true });
});

const run = ({ script: text }: { readonly script: string }, input = '') =>
  new Promise<{ readonly failed: boolean; readonly stdout: string; readonly stderr: string }>((resolve) => {
    const env = { PATH: process.env['PATH'], TMPDIR: folder, CURL_CA_BUNDLE: join(folder, 'ca') };
    const child = execFile('sh', ['-euc', text], { env }, (error, stdout, stderr) =>
      resolve({ failed: error !== null, stdout, stderr }),
    );
    child.stdin!.end(input);
  });
const PROXIES = { PROXY: '', HTTPS_PROXY: '', NO_PROXY: '' };
const fetch = (URL: string) =>
  run(using('host/packages/download-with-curl.sh', script('host/packages/fetch.sh', { URL, ...PROXIES })));

test('a download over TLS is not redirected to a site without', async () => {
  const { failed, stderr } = await fetch(`${secure}/program`);
  expect(failed).toBe(true);
  expect(stderr).toMatch(/Protocol "?http"? (?:not supported|disabled)/i);
  expect(inPlain).toEqual([]);
});

test('a download without TLS, whose bytes are verified otherwise, works', async () => {
  expect(await fetch(`${plain}/program`)).toEqual({
    failed: false,
    stdout: Buffer.from('replaced').toString('base64'),
    stderr: '',
  });
  expect(inPlain.splice(0)).toEqual(['/program no login']);
});

test('a survey with a login over TLS is not redirected to a site without', async () => {
  const parameters = { WANTED: `image 0 ${secure}/v2/a/manifests/1`, ACCESS_IN: join(folder, 'run'), ARCHITECTURE: '' };
  const survey = script('host/packages/survey-downloads.sh', { ...parameters, ...PROXIES });
  const login = Buffer.from('Authorization: Basic c2VjcmV0').toString('base64');
  const { stdout } = await run(using('host/packages/download-with-curl.sh', survey), `0.header ${login}\n`);
  expect(stdout).toMatch(/^image https:\S+ failed curl: \(1\) Protocol/);
  expect(inPlain).toEqual([]);
});
