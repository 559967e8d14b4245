// @module-tag linux
/** The installation of published programs, with a site and a cosign that a test speaks for. */
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { script, using } from '../../../src/templates.ts';

const PROGRAM = '#!/bin/sh\necho new\n';
const IDENTITY = 'signer@example.com';
const ISSUER = 'https://accounts.example.com';

let folder: string;
let site: Server;
let url: string;
let asked: string[];
/** What the site has. */
let published: Map<string, string>;

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'kbuild-programs-'));
  mkdirSync(join(folder, 'bin'));
  for (const name of ['systemctl', 'restorecon']) program(name, 'exit 0');
  asked = [];
  const sum = createHash('sha256').update(PROGRAM).digest('hex');
  published = new Map([
    ['/kubelet', PROGRAM],
    ['/kubelet.sha256', `${sum}\n`],
    ['/kubelet.sig', 'SIG'],
    ['/kubelet.cert', 'CERT'],
  ]);
  site = createServer((request, response) => {
    const path = request.url!;
    asked.push(path);
    const content = published.get(path);
    if (content === undefined) response.writeHead(404).end();
    else response.end(content);
  });
  await new Promise<void>((listening) => site.listen(0, '127.0.0.1', listening));
  url = `http://127.0.0.1:${String((site.address() as AddressInfo).port)}/kubelet`;
});
afterEach(() => {
  site.close();
  rmSync(folder, { recursive: true });
});

function program(name: string, text: string): void {
  writeFileSync(join(folder, 'bin', name), `#!/bin/sh\n${text}\n`);
  chmodSync(join(folder, 'bin', name), 0o755);
}

/** A cosign that writes down its arguments and what the files hold, and then does this. */
const cosign = (then: string): void =>
  program(
    'cosign',
    `printf '%s\\n' "$@" >${folder}/argv\necho "HOME=$HOME" >${folder}/home\ncat "$2" "$4" "$6" >${folder}/read\n${then}`,
  );

const target = (): string => join(folder, 'to/kubelet');

/** Installs the kubelet, where an older one is. */
async function installed(signature: 'auto' | 'required' | 'none') {
  const records = join(folder, 'programs');
  mkdirSync(join(folder, 'to'), { recursive: true });
  mkdirSync(records, { recursive: true });
  writeFileSync(target(), 'old');
  writeFileSync(join(records, 'kubelet'), `1.36.2\n0 0 ${target()}\n`);
  const job = using(
    'host/packages/download-with-curl.sh',
    script('host/packages/install-programs.sh', {
      DOWNLOADS: [`kubelet 1.36.3 program ${join(folder, 'to')} kubelet ${url} ${url}.sha256 ${signature}`],
      PROGRAMS: records,
      ...{ IDENTITY, ISSUER, RESTART: [], UNPACK: '', PROXY: '', HTTPS_PROXY: '', NO_PROXY: '' },
    }),
  );
  const work = join(folder, 'work');
  mkdirSync(work, { recursive: true });
  const ended = await new Promise<{ code: number; stdout: string; stderr: string }>((resolve) => {
    // Undefined: a job of systemd has none, either.
    const env = { ...process.env, HOME: undefined, PATH: `${join(folder, 'bin')}:/usr/bin:/bin:/usr/sbin:/sbin` };
    execFile('sh', ['-euc', job.script], { cwd: work, env }, (error, stdout, stderr) =>
      resolve({ code: error === null ? 0 : Number(error.code), stdout, stderr }),
    );
  });
  const there = join(records, '.downloads');
  return {
    ...ended,
    program: readFileSync(target(), 'utf8'),
    version: readFileSync(join(records, 'kubelet'), 'utf8').split('\n')[0],
    kept: existsSync(there) ? readdirSync(there).filter((name) => /^[0-9a-f]{64}$/.test(name)) : [],
  };
}

const OLD = { program: 'old', version: '1.36.2', kept: [] };
const NEW = { code: 0, stderr: '', program: PROGRAM, version: '1.36.3', kept: [] };

describe('a host with cosign', () => {
  test.each(['auto', 'required'] as const)('installs what cosign verifies (%s)', async (signature) => {
    cosign('echo Verified OK >&2');
    expect(await installed(signature)).toMatchObject({
      ...NEW,
      stdout: `${url}: cosign verified the signature of ${IDENTITY}\n`,
    });
    const argv = readFileSync(join(folder, 'argv'), 'utf8').trim().split('\n');
    expect(argv.filter((_, index) => index !== 1 && index !== 3 && index !== 5)).toEqual([
      ...['verify-blob', '--signature', '--certificate'],
      ...['--certificate-identity', IDENTITY, '--certificate-oidc-issuer', ISSUER],
    ]);
    expect(readFileSync(join(folder, 'read'), 'utf8')).toBe(`${PROGRAM}SIGCERT`);
    expect(readFileSync(join(folder, 'home'), 'utf8')).toBe('HOME=/root\n');
  });

  test.each([
    [
      'that does not match',
      'echo "Error: none of the expected identities matched" >&2; exit 1',
      'none of the expected',
    ],
    [
      'while Sigstore cannot be reached',
      'echo "dial tcp: lookup rekor.sigstore.dev: no such host" >&2; exit 1',
      'dial',
    ],
    ['of which cosign says nothing', 'exit 2', ''],
  ])('keeps the old program for a signature %s', async (_, then, said) => {
    cosign(then);
    const ran = await installed('auto');
    expect(ran).toMatchObject({ ...OLD, code: 1 });
    expect(ran.stderr).toContain(`cosign does not verify ${url}: `);
    expect(ran.stderr).toContain(said);
  });

  test.each(['sig', 'cert'])('keeps the old program where the source has no .%s', async (part) => {
    cosign('exit 0');
    published.delete(`/kubelet.${part}`);
    const ran = await installed('auto');
    expect(ran).toMatchObject({ ...OLD, code: 1, kept: [expect.any(String)] });
    expect(ran.stderr).toContain(`${url}.${part} cannot be downloaded: Failed to fetch -  404`);
    expect(ran.stderr).toContain('downloads.kubernetes.signatures: off');
    expect(existsSync(join(folder, 'argv'))).toBe(false);
  });

  test('asks for no signature where the inventory wants none', async () => {
    cosign('exit 1');
    expect(await installed('none')).toMatchObject({ ...NEW, stdout: '' });
    expect(asked).toEqual(['/kubelet.sha256', '/kubelet']);
  });
});

describe('a host without cosign', () => {
  test('compares the checksum alone, and says so', async () => {
    expect(await installed('auto')).toMatchObject({
      ...NEW,
      stdout: `${url}: the checksum was compared; no signature was verified, because this host has no cosign\n`,
    });
    expect(asked).toEqual(['/kubelet.sha256', '/kubelet']);
  });

  test('keeps the old program where the inventory requires signatures', async () => {
    const ran = await installed('required');
    // What has arrived is not downloaded again when cosign is there.
    expect(ran).toMatchObject({ ...OLD, code: 1, kept: [expect.any(String)] });
    expect(ran.stderr).toContain(`${url} must be verified with cosign, which this host does not have`);
  });
});
