// @module-tag linux
// @module-tag ssh
// @module-tag sshd
import { execFileSync, spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { ConnectError } from '../../src/errors.ts';
import type { SshSettings } from '../../src/inventory/host-settings.ts';
import type { Host } from '../../src/inventory/inventory.ts';
import { Secret } from '../../src/shell/secret.ts';
import { sh } from '../../src/shell/sh.ts';
import { linuxRemote } from '../../src/ssh/linux.ts';
import { sshConfig } from '../../src/ssh/ssh-config.ts';
import { sshDialler, type SshOptions } from '../../src/ssh/ssh2.ts';
import { dialSsh } from '../fakes/dial-ssh.ts';
import { type Sshd, startSshd } from './sshd.ts';

const folder = mkdtempSync(join(tmpdir(), 'kbuild-openssh-'));
const at = (name: string) => join(folder, name);

function keyFile(name: string, ...options: string[]): string {
  execFileSync('ssh-keygen', ['-q', '-N', '', '-C', 'test', '-f', at(name), ...options]);
  return readFileSync(at(`${name}.pub`), 'utf8')
    .split(' ')
    .slice(0, 2)
    .join(' ');
}

const fingerprintOf = (file: string): string =>
  execFileSync('ssh-keygen', ['-lf', file], { encoding: 'utf8' }).split(' ')[1]!;

let sshd: Sshd;
let keys: Readonly<Record<'ed' | 'rsa' | 'ecdsa' | 'other' | 'otherRsa', string>>;

beforeAll(async () => {
  keys = {
    rsa: keyFile('rsa', '-t', 'rsa', '-b', '2048'),
    ecdsa: keyFile('ecdsa', '-t', 'ecdsa'),
    other: keyFile('other', '-t', 'ed25519'),
    otherRsa: keyFile('otherRsa', '-t', 'rsa', '-b', '2048'),
    ed: '',
  };
  sshd = await startSshd([`HostKey ${at('rsa')}`, `HostKey ${at('ecdsa')}`]);
  keys = { ...keys, ed: readFileSync(join(sshd.folder, 'host.pub'), 'utf8').split(' ').slice(0, 2).join(' ') };
});
afterAll(async () => {
  await sshd.stop();
  rmSync(folder, { recursive: true, force: true });
});

const withSsh = (host: Host, ssh: Partial<SshSettings>): Host => ({ ...host, ssh: { ...host.ssh, ...ssh } });

/** Why it was refused, or what the host answered. */
async function outcome(host: Host, options: Partial<SshOptions> = {}): Promise<string> {
  try {
    const transport = await dialSsh(host, { policy: 'strict', pause: () => Promise.resolve(), ...options });
    try {
      return (await transport.exec('echo in')).stdout.trim();
    } finally {
      await transport.close();
    }
  } catch (error) {
    return (error as Error).message;
  }
}

const remedyOf = (host: Host): Promise<string> =>
  dialSsh(host, { policy: 'strict' }).then(
    () => 'was not refused',
    (error: unknown) => String((error as ConnectError).remedy),
  );

const opensshSays = (knownHosts: string, port: number, options: readonly string[] = []): 'in' | 'refused' =>
  spawnSync(
    'ssh',
    [
      ...['-F', 'none', '-p', String(port), '-i', join(sshd.folder, 'login')],
      ...[
        'BatchMode=yes',
        'IdentitiesOnly=yes',
        `UserKnownHostsFile=${knownHosts}`,
        'GlobalKnownHostsFile=none',
        ...options,
      ].flatMap((option) => ['-o', option]),
      `${userInfo().username}@127.0.0.1`,
      'echo in',
    ],
    { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] },
  ).stdout.includes('in')
    ? 'in'
    : 'refused';

describe('known_hosts: the same verdict as ssh -o BatchMode=yes', () => {
  const host = () => `[127.0.0.1]:${String(sshd.port)}`;
  test.each<[string, () => string, 'in' | 'refused']>([
    ['nothing on file', () => '', 'refused'],
    ['its key', () => `${host()} ${keys.ed}`, 'in'],
    ['its RSA key alone', () => `${host()} ${keys.rsa}`, 'in'],
    ['its ECDSA key alone', () => `${host()} ${keys.ecdsa}`, 'in'],
    ['another key of the same type', () => `${host()} ${keys.other}`, 'refused'],
    ['another key first, then its own', () => `${host()} ${keys.other}\n${host()} ${keys.ed}`, 'in'],
    ['a wrong RSA key beside its ed25519 key', () => `${host()} ${keys.otherRsa}\n${host()} ${keys.ed}`, 'in'],
    ['its RSA key beside a wrong ed25519 key', () => `${host()} ${keys.rsa}\n${host()} ${keys.other}`, 'refused'],
    ['a wrong RSA key alone', () => `${host()} ${keys.otherRsa}`, 'refused'],
    ['the bare name on another port', () => `127.0.0.1 ${keys.ed}`, 'in'],
    ['the bare name with another key', () => `127.0.0.1 ${keys.other}`, 'refused'],
    ['the bare name with its RSA key alone', () => `127.0.0.1 ${keys.rsa}`, 'refused'],
    ['another port', () => `[127.0.0.1]:1 ${keys.ed}`, 'refused'],
    ['the bare name, and another key for the port', () => `127.0.0.1 ${keys.ed}\n${host()} ${keys.other}`, 'refused'],
    ['another key for the port, then the bare name', () => `${host()} ${keys.other}\n127.0.0.1 ${keys.ed}`, 'refused'],
    [
      'the bare name, and another RSA key for the port',
      () => `127.0.0.1 ${keys.ed}\n${host()} ${keys.otherRsa}`,
      'refused',
    ],
    ['the bare name, and the RSA key for the port', () => `127.0.0.1 ${keys.other}\n${host()} ${keys.rsa}`, 'in'],
    [
      'the bare name with another key, and its key for the port',
      () => `127.0.0.1 ${keys.other}\n${host()} ${keys.ed}`,
      'in',
    ],
    [
      'the bare name, and another key by a pattern of the port',
      () => `127.0.0.1 ${keys.ed}\n[127.0.0.*]:* ${keys.other}`,
      'refused',
    ],
    ['the bare name, and another key by a star', () => `127.0.0.1 ${keys.ed}\n* ${keys.other}`, 'refused'],
    [
      'the bare name, and another key for a third port',
      () => `127.0.0.1 ${keys.ed}\n[127.0.0.1]:1 ${keys.other}`,
      'in',
    ],
    [
      'the bare name, and another key of port 22 in brackets',
      () => `127.0.0.1 ${keys.ed}\n[127.0.0.1]:22 ${keys.other}`,
      'in',
    ],
    [
      'both names in one line with another key',
      () => `127.0.0.1,${host()} ${keys.other}\n127.0.0.1 ${keys.ed}`,
      'refused',
    ],
    [
      'the bare name, and an authority for the port',
      () => `127.0.0.1 ${keys.ed}\n@cert-authority ${host()} ${keys.other}`,
      'in',
    ],
    [
      'the bare name, and another key revoked for the port',
      () => `127.0.0.1 ${keys.ed}\n@revoked ${host()} ${keys.other}`,
      'in',
    ],
    [
      'the bare name, and its key revoked for the port',
      () => `127.0.0.1 ${keys.ed}\n@revoked ${host()} ${keys.ed}`,
      'refused',
    ],
    [
      'the bare name, and its key revoked under that name',
      () => `127.0.0.1 ${keys.ed}\n@revoked 127.0.0.1 ${keys.ed}`,
      'refused',
    ],
    [
      'an authority for the bare name, and its key for the port',
      () => `@cert-authority 127.0.0.1 ${keys.other}\n${host()} ${keys.ed}`,
      'in',
    ],
    [
      'an authority, and its key revoked',
      () => `@cert-authority * ${keys.other}\n@revoked ${host()} ${keys.ed}\n${host()} ${keys.ed}`,
      'refused',
    ],
    ['a pattern', () => `[127.0.0.*]:* ${keys.ed}`, 'in'],
    ['a star', () => `* ${keys.ed}`, 'in'],
    ['a negated pattern', () => `*,!${host()},!127.0.0.1 ${keys.ed}`, 'refused'],
    ['a negated pattern that leaves the bare name', () => `*,!${host()} ${keys.ed}`, 'in'],
    ['a list', () => `a,b,${host()} ${keys.ed} comment`, 'in'],
    ['a revoked key', () => `${host()} ${keys.ed}\n@revoked * ${keys.ed}`, 'refused'],
    ['another key revoked', () => `${host()} ${keys.ed}\n@revoked * ${keys.other}`, 'in'],
    ['an authority only', () => `@cert-authority * ${keys.ed}`, 'refused'],
    ['an authority beside its key', () => `@cert-authority * ${keys.other}\n${host()} ${keys.ed}`, 'in'],
    ['CRLF line ends', () => `# c\r\n${host()} ${keys.ed}\r\n`, 'in'],
    [
      'garbage around it',
      () => `|||\nx\n${host()} ssh-ed25519 !!!\n@what ${host()} ${keys.ed}\n${host()} ${keys.ed}`,
      'in',
    ],
    ['blanks before it', () => `   ${host()}\t${keys.ed}`, 'in'],
    ['a comment', () => `#${host()} ${keys.ed}`, 'refused'],
  ])('%s', async (_, content, expected) => {
    const file = at('known_hosts');
    writeFileSync(file, `${content()}\n`);
    expect(opensshSays(file, sshd.port)).toBe(expected);
    const got = await outcome(withSsh(sshd.host, { knownHostsFiles: [file] }));
    expect(got === 'in' ? 'in' : 'refused', got).toBe(expected);
  });

  test.each<[string, () => string, 'in' | 'refused']>([
    ['its key for the port', () => `${host()} ${keys.ed}`, 'in'],
    ['the bare name', () => `127.0.0.1 ${keys.ed}`, 'in'],
    ['the bare name, and another key for the port', () => `127.0.0.1 ${keys.ed}\n${host()} ${keys.other}`, 'refused'],
    [
      'the bare name with another key, and its key for the port',
      () => `127.0.0.1 ${keys.other}\n${host()} ${keys.ed}`,
      'in',
    ],
    ['another key for the port', () => `${host()} ${keys.other}`, 'refused'],
    ['its key revoked', () => `${host()} ${keys.ed}\n@revoked ${host()} ${keys.ed}`, 'refused'],
    ['an authority, and the bare name', () => `@cert-authority ${host()} ${keys.other}\n127.0.0.1 ${keys.ed}`, 'in'],
  ])('hashed names: %s', async (_, content, expected) => {
    const file = at('hashed');
    // `ssh-keygen -H` leaves lines with a marker as they are.
    writeFileSync(file, `${content()}\n`);
    execFileSync('ssh-keygen', ['-q', '-H', '-f', file], { stdio: 'ignore' });
    expect(readFileSync(file, 'utf8')).toMatch(/^\|1\|/m);
    expect(opensshSays(file, sshd.port)).toBe(expected);
    const got = await outcome(withSsh(sshd.host, { knownHostsFiles: [file] }));
    expect(got === 'in' ? 'in' : 'refused', got).toBe(expected);
  });

  test('one name hashed and the other not: the line of the port decides', async () => {
    for (const [hashed, open] of [
      [`127.0.0.1 ${keys.ed}`, `${host()} ${keys.other}`],
      [`${host()} ${keys.other}`, `127.0.0.1 ${keys.ed}`],
    ] as const) {
      const file = at('half-hashed');
      writeFileSync(file, `${hashed}\n`);
      execFileSync('ssh-keygen', ['-q', '-H', '-f', file], { stdio: 'ignore' });
      writeFileSync(file, `${open}\n`, { flag: 'a' });
      expect(opensshSays(file, sshd.port)).toBe('refused');
      expect(await outcome(withSsh(sshd.host, { knownHostsFiles: [file] }))).toContain('CHANGED');
    }
  });

  test.each<[string, () => string, 'in' | 'refused']>([
    ['its key', () => `web1 ${keys.ed}`, 'in'],
    ['its key for the address alone', () => `127.0.0.1 ${keys.ed}\n${host()} ${keys.ed}`, 'refused'],
    ['its key for the alias and the port', () => `[web1]:${String(sshd.port)} ${keys.ed}`, 'refused'],
    ['its key, and another for the address', () => `web1 ${keys.ed}\n${host()} ${keys.other}`, 'in'],
    ['another key, and its own for the address', () => `web1 ${keys.other}\n${host()} ${keys.ed}`, 'refused'],
  ])('HostKeyAlias: %s', async (_, content, expected) => {
    const file = at('alias');
    writeFileSync(file, `${content()}\n`);
    expect(opensshSays(file, sshd.port, ['HostKeyAlias=web1'])).toBe(expected);
    const got = await outcome(withSsh(sshd.host, { knownHostsFiles: [file], hostKeyAlias: 'web1' }));
    expect(got === 'in' ? 'in' : 'refused', got).toBe(expected);
  });

  test('stricter than ssh: a key that is revoked under the bare name is refused on every port', async () => {
    const file = at('revoked');
    writeFileSync(file, `@revoked 127.0.0.1 ${keys.ed}\n${host()} ${keys.ed}\n`);
    expect(opensshSays(file, sshd.port)).toBe('in');
    expect(await outcome(withSsh(sshd.host, { knownHostsFiles: [file] }))).toContain('is revoked at');
  });
});

test('a changed key is reported with both fingerprints as ssh-keygen prints them, with file and line', async () => {
  const file = at('changed');
  writeFileSync(file, `# a\n[127.0.0.1]:${String(sshd.port)} ${keys.other}\n`);
  const [own, other] = [fingerprintOf(join(sshd.folder, 'host.pub')), fingerprintOf(at('other.pub'))];
  const changed = withSsh(sshd.host, { knownHostsFiles: [file] });
  expect(await outcome(changed)).toBe(
    `real: 127.0.0.1:${String(sshd.port)}: the host key has CHANGED: the host shows ssh-ed25519 ${own}, but ${file}:2 has ssh-ed25519 ${other}`,
  );
  expect(await outcome(changed, { policy: 'accept-new' })).toContain('CHANGED');
  expect(await remedyOf(changed)).toContain(`remove the line ${file}:2`);
});

test('an unknown key is reported with its fingerprint, and both remedies work', async () => {
  const file = at('unknown');
  writeFileSync(file, '');
  const own = fingerprintOf(join(sshd.folder, 'host.pub'));
  const unknown = withSsh(sshd.host, { knownHostsFiles: [file] });
  expect(await outcome(unknown)).toBe(
    `real: 127.0.0.1:${String(sshd.port)}: the host key is not known: ED25519 key fingerprint is ${own}`,
  );
  const remedy = await remedyOf(unknown);
  expect(remedy).toContain('ssh.hostKey');
  expect(await outcome(withSsh(unknown, { hostKeys: [own] }))).toBe('in');
  expect(await outcome(unknown)).not.toBe('in');
  expect(remedy).toContain('--accept-new-host-keys, which records it');
  expect(await outcome(unknown, { policy: 'accept-new' })).toBe('in');
  expect(await outcome(unknown)).toBe('in');
});

test('a certificate authority is named as the reason', async () => {
  const file = at('authority');
  writeFileSync(file, `@cert-authority * ${keys.other}\n`);
  expect(await outcome(withSsh(sshd.host, { knownHostsFiles: [file] }))).toContain(
    `${file}:1 trusts a certificate authority for it, and the built-in client cannot check host certificates`,
  );
});

test('a pin of the inventory decides alone: key or fingerprint, of any type', async () => {
  const print = fingerprintOf(at('rsa.pub'));
  const pinned = (...hostKeys: string[]) => outcome(withSsh(sshd.host, { hostKeys, knownHostsFiles: [] }));
  expect(await pinned(keys.rsa)).toBe('in');
  expect(await pinned(keys.other, keys.ed)).toBe('in');
  expect(await pinned(keys.other)).toMatch(/host key .* is not the one of the inventory \(ssh-ed25519 SHA256:/);
  // A fingerprint says no type: the server shows its first key.
  expect(await pinned(print)).toMatch(/is not the one of the inventory/);
});

/** The longest time, in ms, that this process did not come to anything else during some work. */
async function longestPause(work: () => Promise<unknown>): Promise<number> {
  let longest = 0;
  let last = performance.now();
  const timer = setInterval(() => {
    longest = Math.max(longest, performance.now() - last);
    last = performance.now();
  }, 5);
  await work().finally(() => clearInterval(timer));
  return longest;
}

test.each([
  [
    'diffie-hellman-group-exchange-sha256',
    /offers only Diffie-Hellman group exchange \(diffie-hellman-group-exchange-sha256\), .*; kbuild has curve25519-sha256, /,
  ],
  [
    'sntrup761x25519-sha512@openssh.com',
    /offers only post-quantum key exchange \(sntrup761x25519-sha512@openssh\.com\); kbuild has curve25519-sha256, /,
  ],
  [
    'diffie-hellman-group-exchange-sha256,sntrup761x25519-sha512@openssh.com',
    /no common key exchange: the server offers diffie-hellman-group-exchange-sha256, sntrup761x25519-sha512@openssh\.com(?:, .*)?; kbuild has curve25519-sha256, .*, diffie-hellman-group18-sha512/,
  ],
])('a server with %s alone is refused with that reason, and nothing stands still', async (kex, reason) => {
  const server = await startSshd([`KexAlgorithms ${kex}`]);
  try {
    // A group that must be made takes many seconds, in which nothing else runs.
    const ordinary = await longestPause(() => outcome(sshd.host));
    const longest = await longestPause(async () => expect(await outcome(server.host)).toMatch(reason));
    expect(longest).toBeLessThan(1500 + 3 * ordinary);
  } finally {
    await server.stop();
  }
});

describe('keys', () => {
  const encrypted = () => {
    const file = at(`encrypted-${String(Math.random()).slice(2)}`);
    execFileSync('ssh-keygen', ['-q', '-t', 'ed25519', '-a', '1', '-N', 'let me in', '-f', file]);
    return file;
  };
  const authorize = (file: string) => {
    writeFileSync(join(sshd.folder, 'authorized_keys'), readFileSync(`${file}.pub`), { flag: 'a' });
  };

  test('kbuild prompts once for the passphrase of an encrypted key, for any number of hosts', async () => {
    const file = encrypted();
    authorize(file);
    let asked = 0;
    const dialler = sshDialler({
      policy: 'strict',
      askPassphrase: () => Promise.resolve((asked++, Secret.of('let me in'))),
    });
    const host = withSsh(sshd.host, { identityFiles: [file] });
    const transports = await Promise.all([1, 2, 3].map(() => dialler.dial(host)));
    await Promise.all(transports.map((transport) => transport.close()));
    expect(asked).toBe(1);
    expect(await outcome(withSsh(host, { passphrase: Secret.of('let me in') }))).toBe('in');
    const wrong = Secret.of('wrong');
    await expect(sshDialler({ policy: 'strict' }).dial(withSsh(host, { passphrase: wrong }))).rejects.toMatchObject({
      message: expect.stringContaining('passphrase of the SSH key') as unknown,
      remedy: 'check ssh.passphrase',
    });
    const asking = sshDialler({ policy: 'strict', askPassphrase: () => Promise.resolve(wrong) });
    await expect(asking.dial(host)).rejects.toMatchObject({ remedy: 'run the same command again, and type it again' });
    expect(await outcome(host)).toContain(`the SSH key ${file} is encrypted`);
  });

  test('several keys are tried in their order', async () => {
    expect(await outcome(withSsh(sshd.host, { identityFiles: [at('other'), ...sshd.host.ssh.identityFiles!] }))).toBe(
      'in',
    );
    expect(await outcome(withSsh(sshd.host, { identityFiles: [at('other')] }))).toContain(
      `may not log in with ${at('other')}`,
    );
  });

  test('of an agent with many keys only the configured one is offered, also by its public half', async () => {
    const socket = at('agent');
    const agent = execFileSync('ssh-agent', ['-a', socket], { encoding: 'utf8' });
    const pid = Number(/SSH_AGENT_PID=(\d+)/.exec(agent)![1]);
    try {
      const env = { ...process.env, SSH_AUTH_SOCK: socket };
      for (let i = 0; i < 7; i++) {
        keyFile(`many-${String(i)}`, '-t', 'ed25519');
        execFileSync('ssh-add', ['-q', at(`many-${String(i)}`)], { env, stdio: 'ignore' });
      }
      execFileSync('ssh-add', ['-q', join(sshd.folder, 'login')], { env, stdio: 'ignore' });
      writeFileSync(at('public.pub'), readFileSync(join(sshd.folder, 'login.pub')));
      const limited = await startSshd(['MaxAuthTries 2']);
      try {
        writeFileSync(join(limited.folder, 'authorized_keys'), readFileSync(join(sshd.folder, 'login.pub')));
        const host = (ssh: Partial<SshSettings>) => withSsh(limited.host, ssh);
        expect(await outcome(host({ identityFiles: [at('public')] }), { agentSocket: socket })).toBe('in');
        expect(await outcome(host({ identityFiles: [at('public.pub')] }), { agentSocket: socket })).toBe('in');
        const transport = await dialSsh(host({ identityFiles: [at('public')] }), {
          policy: 'strict',
          agentSocket: socket,
        });
        // sshd would allow it, and says here where a forwarded agent listens.
        expect((await transport.exec('echo "agent: ${SSH_AUTH_SOCK-none}"')).stdout).toBe('agent: none\n');
        await transport.close();
        const { user, port, knownHostsFiles } = limited.host.ssh;
        const anyKey = { ...limited.host, ssh: { user, port, knownHostsFiles } };
        expect(await outcome(anyKey, { agentSocket: socket })).not.toBe('in');
      } finally {
        await limited.stop();
      }
    } finally {
      process.kill(pid);
    }
  });
});

describe('bastions', () => {
  test('hosts behind two bastions: every hop verified, one connection to each', async () => {
    const [outer, inner] = [await startSshd(), await startSshd()];
    const hop = ({ host }: Sshd) => ({ ...host.ssh, address: '127.0.0.1' });
    const host = withSsh(sshd.host, { bastions: [hop(outer), hop(inner)] });
    const dialler = sshDialler({ policy: 'strict' });
    try {
      const transports = await Promise.all(Array.from({ length: 12 }, () => dialler.dial(host)));
      const answers = await Promise.all(transports.map((transport) => transport.exec('echo in')));
      expect(answers.map(({ stdout }) => stdout)).toEqual(Array(12).fill('in\n'));
      expect(outer.connectionProcesses()).toHaveLength(1);
      expect(inner.connectionProcesses()).toHaveLength(1);
      await Promise.all(transports.map((transport) => transport.close()));
      writeFileSync(at('nobody'), '');
      const unverified = withSsh(host, { bastions: [hop(outer), { ...hop(inner), knownHostsFiles: [at('nobody')] }] });
      expect(await outcome(unverified)).toMatch(
        new RegExp(
          `^real: 127\\.0\\.0\\.1:${String(inner.port)}: the host key is not known: ED25519 key fingerprint is SHA256:\\S+$`,
        ),
      );
      const closed = withSsh(sshd.host, { port: 1, bastions: [hop(outer)] });
      expect(await outcome(closed)).toContain(
        `the bastion 127.0.0.1:${String(outer.port)} does not reach 127.0.0.1 port 1`,
      );
    } finally {
      dialler.close();
      await outer.stop();
      await inner.stop();
    }
  });
});

describe('behind a bastion', () => {
  test('a server without a common key exchange is refused with both lists, however many wait for the bastion', async () => {
    const [outer, server] = [await startSshd(), await startSshd(['KexAlgorithms sntrup761x25519-sha512@openssh.com'])];
    const host = withSsh(server.host, { bastions: [{ ...outer.host.ssh, address: '127.0.0.1' }] });
    const dialler = sshDialler({ policy: 'strict' });
    try {
      const messages = await Promise.all(
        Array.from({ length: 10 }, () => dialler.dial(host).catch((error: unknown) => (error as Error).message)),
      );
      for (const message of messages)
        expect(message).toMatch(/offers only post-quantum key exchange \(sntrup.*\); kbuild has curve25519-sha256/);
    } finally {
      dialler.close();
      await outer.stop();
      await server.stop();
    }
  });
});

test('a user certificate is named as what the built-in client cannot use; ssh itself gets in with it', async () => {
  keyFile('user-ca', '-t', 'ed25519');
  keyFile('certified', '-t', 'ed25519');
  const user = userInfo().username;
  execFileSync('ssh-keygen', ['-q', '-s', at('user-ca'), '-I', 'id', '-n', user, at('certified.pub')], {
    stdio: 'ignore',
  });
  const server = await startSshd([`TrustedUserCAKeys ${at('user-ca.pub')}`]);
  try {
    const host = withSsh(server.host, { identityFiles: [at('certified')] });
    expect(await outcome(host)).toContain(`${user} may not log in with ${at('certified')}`);
    const error = await dialSsh(host, { policy: 'strict' }).catch((reason: unknown) => reason);
    expect(error).toMatchObject({
      remedy: `the built-in client cannot use the certificate ${at('certified-cert.pub')}: set ssh.client: openssh, or put the key itself into ~${user}/.ssh/authorized_keys`,
    });
    const options = ['-F', 'none', '-o', 'BatchMode=yes', '-o', 'StrictHostKeyChecking=no'];
    const known = ['-o', 'UserKnownHostsFile=/dev/null', '-i', at('certified'), '-p', String(server.port)];
    const said = spawnSync('ssh', [...options, ...known, `${user}@127.0.0.1`, 'echo in'], { encoding: 'utf8' });
    expect(said.stdout, said.stderr).toBe('in\n');
  } finally {
    await server.stop();
  }
});

describe('~/.ssh/config through ssh -G', () => {
  const configured = (text: string, included = '') => {
    const home = at(`home-${String(Math.random()).slice(2)}`);
    mkdirSync(join(home, '.ssh', 'more'), { recursive: true });
    writeFileSync(join(home, 'config'), text.replaceAll('HOME', home));
    writeFileSync(join(home, '.ssh', 'more', 'one'), included);
    return { home, file: join(home, 'config') };
  };
  const open = ['user', 'port', 'identityFiles', 'knownHostsFiles', 'bastions'] as const;
  const hostNamed = (address: string, configFile: string, ssh: Partial<SshSettings> = {}): Host => ({
    ...withSsh(sshd.host, { user: 'root', port: 22, knownHostsFiles: ['/kh'], open, configFile, ...ssh }),
    address,
  });

  test('what it says counts where the inventory says nothing; Include, Match and ProxyJump too', async () => {
    const { home, file } = configured(
      `Include HOME/.ssh/more/*
Host jump
  HostName 10.9.9.9
  Port 2200
  User jumper
Host web*
  ProxyJump jump
Match host web2
  IdentityFile /id/special
`,
      'Host web1\n  HostName 10.0.0.1\n  User deploy\n  IdentityFile ~/.ssh/a\n  IdentityFile /id/b\n  HostKeyAlias w\n',
    );
    const config = sshConfig({ home });
    const web1 = await config.applied(hostNamed('web1', file));
    expect(web1).toMatchObject({
      address: '10.0.0.1',
      ssh: {
        user: 'deploy',
        port: 22,
        hostKeyAlias: 'w',
        bastions: [{ address: '10.9.9.9', port: 2200, user: 'jumper' }],
      },
    });
    expect(web1.ssh.identityFiles?.map((one) => one.replace(/^.*\.ssh/, '~/.ssh'))).toEqual(['~/.ssh/a', '/id/b']);
    expect((await config.applied(hostNamed('web2', file))).ssh.identityFiles).toEqual(['/id/special']);
    const own = await config.applied(hostNamed('web1', file, { user: 'me', open: ['port'] }));
    expect(own.ssh).toMatchObject({ user: 'me' });
    expect(own.ssh.bastions).toBeUndefined();
    config.close();
  });

  test('hosts that match the same lines cost one run of ssh; no configuration, none', async () => {
    const { home, file } = configured('Host db*\n  User dba\nHost *\n  Port 2222\n');
    const config = sshConfig({ home });
    const hosts = await Promise.all(
      Array.from({ length: 500 }, (_, i) =>
        config.applied(hostNamed(i % 2 === 0 ? `db${String(i)}` : `10.0.0.${String(i)}`, file)),
      ),
    );
    expect(hosts.map(({ address }) => address).slice(0, 3)).toEqual(['db0', '10.0.0.1', 'db2']);
    expect(hosts.slice(0, 2).map(({ ssh }) => [ssh.user, ssh.port])).toEqual([
      ['dba', 2222],
      ['root', 2222],
    ]);
    expect(config.runs).toBe(2);
    config.close();
    const nothing = sshConfig({ home });
    await nothing.applied(withSsh(sshd.host, { open }));
    expect(nothing.runs).toBe(0);
  });

  test('tokens of identity files are filled in for each host, also where two share an answer', async () => {
    const { home, file } = configured(
      'Host db*\n  User dba\n  IdentityFile ~/.ssh/%h-%n-%r-%p-%u-%%h-%d\nHost other\n  HostName 10.0.0.9\n  IdentityFile /id/%h-%n\n',
    );
    const config = sshConfig({ home });
    const identities = async (name: string, ssh: Partial<SshSettings> = {}) =>
      (await config.applied(hostNamed(name, file, ssh))).ssh.identityFiles;
    const me = userInfo().username;
    // ssh knows another home than this test: what ~ stands for is its.
    const tails = (found: readonly string[] | undefined) => found?.map((one) => one.replace(/^.*?\.ssh\//, ''));
    expect(tails(await identities('db1'))).toEqual([`db1-db1-dba-22-${me}-%h-${home}`]);
    expect(tails(await identities('db2', { user: 'root', open: ['identityFiles'], port: 2022 }))).toEqual([
      `db2-db2-root-2022-${me}-%h-${home}`,
    ]);
    expect(await identities('other')).toEqual(['/id/10.0.0.9-other']);
    config.close();
  });

  test('known_hosts files named after the host are its own', async () => {
    const { home, file } = configured('Host *\n  UserKnownHostsFile /known/%h\n');
    const config = sshConfig({ home });
    for (const name of ['a', 'b'])
      expect((await config.applied(hostNamed(name, file))).ssh.knownHostsFiles).toEqual([`/known/${name}`]);
    config.close();
  });

  test('a configuration without an ssh that reads it is reported once', async () => {
    const { home, file } = configured('Host *\n  User deploy\n');
    const told: string[] = [];
    const config = sshConfig({ home, noSsh: (name) => told.push(name) });
    const path = process.env['PATH'];
    process.env['PATH'] = home;
    try {
      const hosts = await Promise.all(['a', 'b'].map((name) => config.applied(hostNamed(name, file))));
      expect(hosts.map(({ ssh }) => ssh.user)).toEqual(['root', 'root']);
    } finally {
      process.env['PATH'] = path;
      config.close();
    }
    expect(told).toEqual([file]);
  });

  test('ProxyCommand is refused, not ignored', async () => {
    const { home, file } = configured('Host *\n  ProxyCommand nc %h %p\n');
    await expect(sshConfig({ home }).applied(hostNamed('x', file))).rejects.toThrow('ProxyCommand nc %h %p');
  });
});

test('IPv6', async () => {
  const server = await startSshd(['ListenAddress ::1']);
  try {
    const file = at('six');
    writeFileSync(file, `[::1]:${String(server.port)} ${readFileSync(join(server.folder, 'host.pub'), 'utf8')}`);
    expect(await outcome({ ...withSsh(server.host, { knownHostsFiles: [file] }), address: '::1' })).toBe('in');
    writeFileSync(file, '');
    expect(await outcome({ ...withSsh(server.host, { knownHostsFiles: [file] }), address: '::1' })).toContain(
      `[::1]:${String(server.port)}: the host key`,
    );
  } finally {
    await server.stop();
  }
});

test('a login shell that prints a megabyte, sleeps and fakes marks does not disturb', async () => {
  const noisy = at('noisy');
  writeFileSync(
    noisy,
    '#!/bin/sh\n# \u001b[2J\u001b[31mred\u0007\nhead -c 1000000 /dev/zero | tr "\\0" x; echo; echo done 0; sleep 0.2\nexec /bin/sh "$@"\n',
  );
  chmodSync(noisy, 0o755);
  const server = await startSshd([`ForceCommand ${noisy} -c "$SSH_ORIGINAL_COMMAND"`, `Banner ${noisy}`]);
  try {
    const remote = linuxRemote(server.host, await dialSsh(server.host, { policy: 'strict' }), { runId: 'r' });
    expect(await remote.run(sh`echo out`)).toBe('out\n');
    await remote.close();
  } finally {
    await server.stop();
  }
});
