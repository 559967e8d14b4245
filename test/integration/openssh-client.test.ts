// @module-tag linux
// @module-tag ssh
// @module-tag sshd
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import type { SshSettings } from '../../src/inventory/host-settings.ts';
import type { Host } from '../../src/inventory/inventory.ts';
import { opensshDialler, type OpensshOptions } from '../../src/ssh/openssh.ts';
import { sshConfig } from '../../src/ssh/ssh-config.ts';
import { pause, type Pause } from '../../src/wait.ts';
import { dialSsh } from '../fakes/dial-ssh.ts';
import { type Sshd, startSshd } from './sshd.ts';

const folder = mkdtempSync(join(tmpdir(), 'kbuild-client-'));
const at = (name: string) => join(folder, name);
const keygen = (...args: string[]) => execFileSync('ssh-keygen', ['-q', ...args], { stdio: 'ignore' });
const publicKey = (file: string) => readFileSync(`${file}.pub`, 'utf8').split(' ').slice(0, 2).join(' ');

let sshd: Sshd;
/** Its host key and its users' keys are signed: it has no authorized_keys, and no known_hosts file has its plain key. */
let certified: Sshd;

beforeAll(async () => {
  for (const name of ['authority', 'host', 'user', 'stranger']) keygen('-t', 'ed25519', '-N', '', '-f', at(name));
  keygen('-s', at('authority'), '-h', '-I', 'host', '-n', '127.0.0.1', at('host.pub'));
  keygen('-s', at('authority'), '-I', 'user', '-n', userInfo().username, at('user.pub'));
  sshd = await startSshd();
  certified = await startSshd([
    `HostKey ${at('host')}`,
    `HostCertificate ${at('host-cert.pub')}`,
    `TrustedUserCAKeys ${at('authority.pub')}`,
  ]);
  writeFileSync(join(certified.folder, 'authorized_keys'), '');
  writeFileSync(at('known_hosts'), `@cert-authority 127.0.0.1,[127.0.0.1]:* ${publicKey(at('authority'))}\n`);
});
afterAll(async () => {
  await sshd.stop();
  await certified.stop();
  rmSync(folder, { recursive: true, force: true });
});

const withSsh = (host: Host, ssh: Partial<SshSettings>): Host => ({ ...host, ssh: { ...host.ssh, ...ssh } });

/** Time outs as they are; waiting before another attempt is not what is tested. */
const quick: Pause = (ms, signal) => pause(ms > 20_000 ? ms : ms / 20, signal);

/** Why it was refused, or what the host answered. */
async function outcome(host: Host, options: Partial<OpensshOptions> = {}): Promise<string> {
  const dialler = opensshDialler({ policy: 'strict', home: folder, pause: quick, ...options });
  try {
    const transport = await dialler.dial(host);
    const { stdout } = await transport.exec('echo in');
    await transport.close();
    return stdout.trim();
  } catch (error) {
    return (error as Error).message;
  } finally {
    dialler.close();
  }
}

test('host and user certificates: nothing but the authority is known on either side', async () => {
  const login = { identityFiles: [at('user')], knownHostsFiles: [at('known_hosts')] };
  expect(await outcome(withSsh(certified.host, login))).toBe('in');
  const builtIn = await dialSsh(withSsh(certified.host, login), { policy: 'strict' }).catch(
    (error: unknown) => error as Error & { remedy?: string },
  );
  expect(builtIn).toMatchObject({ remedy: expect.stringContaining('ssh.client: openssh') as unknown });
});

test('a host key of another CA, and a user without a certificate, are refused', async () => {
  writeFileSync(at('others'), `@cert-authority * ${publicKey(at('stranger'))}\n`);
  expect(
    await outcome(withSsh(certified.host, { identityFiles: [at('user')], knownHostsFiles: [at('others')] })),
  ).toMatch(/the host key is not known/);
  const stranger = { identityFiles: [at('stranger')], knownHostsFiles: [at('known_hosts')] };
  expect(await outcome(withSsh(certified.host, stranger))).toMatch(/the login was refused/);
});

test('unknown, changed and pinned host keys', async () => {
  const key = publicKey(join(sshd.folder, 'host'));
  const where = `[127.0.0.1]:${String(sshd.port)}`;
  const knowing = (text: string, policy: 'strict' | 'accept-new' = 'strict') => {
    writeFileSync(at('kh'), text);
    return outcome(withSsh(sshd.host, { knownHostsFiles: [at('kh')] }), { policy });
  };
  expect(await knowing(`${where} ${key}\n`)).toBe('in');
  expect(await knowing('')).toMatch(/the host key is not known/);
  expect(await knowing('', 'accept-new')).toBe('in');
  expect(readFileSync(at('kh'), 'utf8')).toContain(key.split(' ')[1]);
  expect(await knowing(`${where} ${publicKey(at('stranger'))}\n`, 'accept-new')).toMatch(
    /the host key has CHANGED, it shows SHA256:\S+, another ED25519 key is in \S*kh:1 /,
  );
  expect(await knowing(`${where} ${key}\n@revoked * ${key}\n`)).toMatch(/the host key is revoked/);
  const pinned = (...hostKeys: string[]) => outcome(withSsh(sshd.host, { hostKeys, knownHostsFiles: [] }));
  expect(await pinned(key)).toBe('in');
  expect(await pinned(publicKey(at('stranger')))).toMatch(/the host key/);
});

test('nothing of the user’s configuration makes a key known beside the inventory’s pins or file', async () => {
  const key = publicKey(join(sshd.folder, 'host'));
  writeFileSync(at('show-key'), `#!/bin/sh\necho "$1 ${key}"\n`, { mode: 0o755 });
  const config = (...lines: readonly string[]): string => {
    writeFileSync(at('config'), `${lines.join('\n')}\n`);
    return at('config');
  };
  const refused = /the host key/;
  for (const line of [
    `KnownHostsCommand ${at('show-key')} %H`,
    'NoHostAuthenticationForLocalhost yes',
    `GlobalKnownHostsFile ${at('all')}`,
  ]) {
    writeFileSync(at('all'), `* ${key}\n`);
    writeFileSync(at('kh'), '');
    const configFile = config(line, 'VerifyHostKeyDNS yes', 'CheckHostIP yes');
    const wrong = [publicKey(at('stranger'))];
    expect(await outcome(withSsh(sshd.host, { configFile, hostKeys: wrong, knownHostsFiles: [] })), line).toMatch(
      refused,
    );
    expect(await outcome(withSsh(sshd.host, { configFile, knownHostsFiles: [at('kh')] })), line).toMatch(refused);
    // The same configuration makes it known where the inventory says nothing.
    const open = ['knownHostsFiles'] as const;
    expect(await outcome(withSsh(sshd.host, { configFile, open: [...open], knownHostsFiles: [] })), line).toBe('in');
  }
});

test('the refusal of a pinned key names the inventory, and no file of this run', async () => {
  const hostKeys = [publicKey(at('stranger'))];
  const dialler = opensshDialler({ policy: 'strict', home: folder, pause: quick });
  const error = await dialler
    .dial(withSsh(sshd.host, { hostKeys, knownHostsFiles: [] }))
    .catch((reason: unknown) => reason as Error & { readonly remedy?: string });
  dialler.close();
  expect(error).toMatchObject({
    message: expect.stringMatching(
      /the host key has CHANGED, it shows SHA256:\S+, the inventory pins another ED25519 key/,
    ) as string,
    remedy: expect.stringContaining('change ssh.hostKey') as string,
  });
  expect((error as Error).message).not.toContain('pins-');
});

test('a post-quantum-only server', async () => {
  const server = await startSshd(['KexAlgorithms sntrup761x25519-sha512@openssh.com']);
  try {
    expect(await outcome(server.host)).toBe('in');
  } finally {
    await server.stop();
  }
});

test('what the user’s configuration says counts where the inventory says nothing', async () => {
  const { port } = sshd;
  writeFileSync(
    at('proxy.mjs'),
    `import { connect } from 'node:net';
     const far = connect(Number(process.argv[3]), process.argv[2]);
     process.stdin.pipe(far).pipe(process.stdout);`,
  );
  const command = `${process.execPath} ${at('proxy.mjs')} %h %p`;
  writeFileSync(at('config'), `Host web1\n  HostName 127.0.0.1\n  Port ${String(port)}\n  ProxyCommand ${command}\n`);
  const host = withSsh(sshd.host, { open: ['port', 'bastions'], configFile: at('config'), port: 22 });
  writeFileSync(
    at('kh'),
    `web1,127.0.0.1,[127.0.0.1]:${String(port)},[web1]:${String(port)} ${publicKey(join(sshd.folder, 'host'))}\n`,
  );
  expect(await outcome({ ...withSsh(host, { knownHostsFiles: [at('kh')] }), address: 'web1' })).toBe('in');
});

test('where the configuration leads through another machine, eight dial at once', async () => {
  const config = sshConfig({ home: folder });
  const given = withSsh(sshd.host, { client: 'openssh', open: ['bastions'], configFile: at('config') });
  writeFileSync(at('begun'), '');
  writeFileSync(at('config'), `Host 127.*\n  ProxyCommand sh -c "printf . >>${at('begun')}; exec sleep 30"\n`);
  const over = new AbortController();
  const dialler = opensshDialler({ policy: 'strict', home: folder, signal: over.signal });
  const dialled = Promise.allSettled(
    Array.from({ length: 12 }, async (_, i) =>
      dialler.dial(await config.applied({ ...given, address: `127.0.0.${String(i + 1)}` })),
    ),
  );
  const begun = () => readFileSync(at('begun'), 'utf8').length;
  await expect.poll(begun, { timeout: 5000 }).toBe(8);
  await pause(500);
  expect(begun()).toBe(8);
  over.abort();
  await dialled;
  dialler.close();
  expect((await config.applied({ ...given, address: 'elsewhere' })).ssh).not.toHaveProperty('throughOthers');
  config.close();
});

test('a host behind a bastion, every hop verified', async () => {
  const bastion = await startSshd();
  try {
    const hop = { ...bastion.host.ssh, address: 'localhost' };
    const key = publicKey(join(bastion.folder, 'host'));
    writeFileSync(at('hop'), `[localhost]:${String(bastion.port)} ${key}\n`);
    const through = (knownHosts: string) =>
      outcome(withSsh(sshd.host, { bastions: [{ ...hop, knownHostsFiles: [knownHosts] }] }));
    expect(await through(at('hop'))).toBe('in');
    writeFileSync(at('nobody'), '');
    expect(await through(at('nobody'))).toMatch(/the host key is not known/);
  } finally {
    await bastion.stop();
  }
});

test('a closed port, a silent host and a name that does not resolve', async () => {
  expect(await outcome(withSsh(sshd.host, { port: 1 }))).toMatch(/connection refused/);
  expect(await outcome({ ...sshd.host, address: 'no-such-host.invalid' })).toMatch(/the name does not resolve/);
});

test('no other user can enter the folder of the control sockets, and it is gone afterwards', async () => {
  const own = mkdtempSync(join(folder, 'tmp-'));
  vi.stubEnv('TMPDIR', own);
  try {
    const dialler = opensshDialler({ policy: 'strict', home: folder });
    const transport = await dialler.dial(sshd.host);
    const [mine, ...others] = readdirSync(own);
    expect(others).toEqual([]);
    expect((statSync(join(own, mine!)).mode & 0o777).toString(8)).toBe('700');
    await transport.close();
    dialler.close();
    expect(readdirSync(own)).toEqual([]);
  } finally {
    vi.unstubAllEnvs();
  }
});

test.each([
  ['its processes end with the one that started them, however that dies', ''],
  ['so does an ssh that misses SIGTERM', "trap '' TERM"],
])(
  '%s',
  async (_, before) => {
    const own = await startSshd();
    const bin = mkdtempSync(join(folder, 'bin-'));
    writeFileSync(join(bin, 'ssh'), `#!/bin/sh\n${before}\nexec /usr/bin/ssh "$@"\n`, { mode: 0o755 });
    const program = `
    import { opensshDialler } from ${JSON.stringify(new URL('../../src/ssh/openssh.ts', import.meta.url).href)};
    const host = JSON.parse(process.argv[2]);
    const transport = await opensshDialler({ policy: 'strict', home: '/nonexistent' }).dial(host);
    await transport.open('cat', '');
    console.log('connected');
    setInterval(() => undefined, 1000);
  `;
    writeFileSync(at('holder.mts'), program);
    const holder = spawn(
      process.execPath,
      [
        '--import',
        new URL('../../node_modules/tsx/dist/loader.mjs', import.meta.url).href,
        at('holder.mts'),
        JSON.stringify(own.host),
      ],
      {
        stdio: ['ignore', 'pipe', 'inherit'],
        env: { ...process.env, PATH: `${bin}:${process.env['PATH'] ?? ''}` },
      },
    );
    await once(holder.stdout, 'data');
    expect(own.connectionProcesses()).toHaveLength(1);
    holder.kill('SIGKILL');
    await expect.poll(() => own.connectionProcesses(), { timeout: 30_000 }).toEqual([]);
    await own.stop();
  },
  60_000,
);

test('a command that has ended before it was known to have begun is heard to the end', async () => {
  const server = await startSshd(['ForceCommand echo no; echo way >&2; exit 3']);
  const late: Pause = (ms, signal) => pause(Math.max(ms, 500), signal);
  const dialler = opensshDialler({ policy: 'strict', home: folder, pause: late });
  try {
    const transport = await dialler.dial(server.host);
    const results = await Promise.all(Array.from({ length: 5 }, () => transport.exec('true')));
    expect(results).toMatchObject(Array(5).fill({ status: 3, stdout: 'no\n', stderr: 'way\n' }));
    await transport.close();
  } finally {
    dialler.close();
    await server.stop();
  }
});
