// @module-tag linux
// @module-tag ssh
// @module-tag sshd
/** The first command on new hosts: why they cannot be reached is the last thing that it says, with the way to go. */
import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { onTerminal } from '../lab/pseudo-terminal.ts';
import { type Sshd, startSshd } from './sshd.ts';

const program = fileURLToPath(new URL('../../dist/cli/main.js', import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'kbuild-first-contact-'));
const at = (name: string): string => join(folder, name);
const me = userInfo().username;
let sshd: Sshd;

beforeAll(async () => {
  sshd = await startSshd();
  writeFileSync(at('known'), readFileSync(join(sshd.folder, 'known_hosts')));
  writeFileSync(at('none-known'), '');
});
afterAll(async () => {
  await sshd.stop();
  rmSync(folder, { recursive: true });
});

/** Settings of ssh with which the login works. */
const good = (): Readonly<Record<string, string | number>> => ({
  user: me,
  port: sshd.port,
  identityFile: join(sshd.folder, 'login'),
  knownHostsFile: at('known'),
});

/** An inventory of one control plane at this address, with these settings of ssh. */
function inventory(ssh: Readonly<Record<string, unknown>>, address = '127.0.0.1'): string {
  const file = at('inventory.yaml');
  const hosts = [{ name: 'cp1', address, internalAddress: '10.9.0.1', role: 'control-plane' }];
  writeFileSync(file, JSON.stringify({ name: 'prod', kubernetes: { version: '1.36.3' }, ssh, hosts }));
  return file;
}

const ENV = { HOME: folder, PATH: process.env['PATH'] ?? '' };

function kbuild(args: readonly string[], env: Readonly<Record<string, string>> = {}) {
  const { status, stderr, stdout } = spawnSync(process.execPath, [program, ...args], {
    env: { ...ENV, ...env },
    encoding: 'utf8',
  });
  return { status, stdout, stderr, last: stderr.trimEnd().split('\n').at(-1) ?? '' };
}

const FINGERPRINT = /ED25519 key fingerprint is (SHA256:[\w+/]{43})$/m;

describe.each<readonly [command: string, words: readonly string[]]>([
  ['check', []],
  ['plan', []],
  ['up', ['--yes']],
  ['status', []],
  ['kubeconfig', []],
  ['certs', []],
  ['certs', ['recover']],
  ['proxy', []],
  ['upgrade', ['--yes']],
])('kbuild %s %j on a host whose key is not known', (command, flags) => {
  test('ends with exit 3, and the fingerprint and the way to go are said once, at the end', () => {
    const ran = kbuild([command, ...flags, '-i', inventory({ ...good(), knownHostsFile: at('none-known') })]);
    expect(ran.status).toBe(3);
    expect(ran.last).toMatch(/^ {2}→ compare the fingerprint .* --accept-new-host-keys/);
    expect(ran.stderr.match(/SHA256:/g)).toHaveLength(1);
    expect(ran.stderr).toMatch(FINGERPRINT);
    expect(`${ran.stdout}${ran.stderr}`).not.toMatch(/refused|--dead|out of the inventory/);
  });
});

describe('kbuild plan on a host that cannot be reached ends with exit 3, and its last lines are', () => {
  const refusedKey = at('other');
  beforeAll(() => execFileSync('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-f', refusedKey]));

  test.each([
    [
      'the user and his authorized_keys, where the login is refused',
      () => ({ ...good(), user: 'nobody-here' }),
      /nobody-here may not log in with .*\n {2}→ is .*login\.pub in ~nobody-here\/\.ssh\/authorized_keys\?$/,
    ],
    [
      'the key, where it is not that of the user',
      () => ({ ...good(), identityFile: refusedKey }),
      /may not log in with .*other\n {2}→ is .*other\.pub in ~\S+\/\.ssh\/authorized_keys\?$/,
    ],
    [
      'the key file, where there is none',
      () => ({ ...good(), identityFile: at('missing') }),
      /cannot read the SSH key .*missing: there is no such file or folder\n {2}→ check ssh\.identityFile$/,
    ],
    [
      'the port, where no server listens',
      () => ({ ...good(), port: 1 }),
      /127\.0\.0\.1:1: connection refused\n {2}→ is sshd running, and is this its port\?$/,
    ],
    [
      'the variable of the agent, where no key is named and no agent runs',
      () => ({ ...good(), identityFile: undefined }),
      /no agent runs \(\$SSH_AUTH_SOCK is not set\)\n {2}→ set ssh\.identityFile, or start an agent: /,
    ],
  ] as const)('%s', (_, ssh, end) => {
    const ran = kbuild(['plan', '-i', inventory(ssh())]);
    expect(ran.status, ran.stderr).toBe(3);
    expect(ran.stderr.trimEnd()).toMatch(end);
    expect(ran.stderr).not.toContain('bug');
  });

  test('the address, where the name does not resolve or no name server answers', () => {
    const ran = kbuild(['plan', '-i', inventory(good(), 'cp1.kbuild.invalid')]);
    expect(ran.status).toBe(3);
    expect(ran.stderr.trimEnd()).toMatch(
      /(?:the name does not resolve\n {2}→ check the address|no name server answers, .*\n {2}→ check the network).*$/,
    );
  });

  test('the passphrase, where the key is encrypted and there is no terminal to ask on', () => {
    const encrypted = at('encrypted');
    execFileSync('ssh-keygen', ['-q', '-t', 'ed25519', '-N', 'secret', '-f', encrypted]);
    const ran = kbuild(['plan', '-i', inventory({ ...good(), identityFile: encrypted })]);
    expect(ran.status).toBe(3);
    expect(ran.stderr.trimEnd()).toMatch(/encrypted is encrypted\n {2}→ set ssh\.passphrase .*ssh-add .*encrypted\)$/);
  });

  test('the agent, where it holds no key', async () => {
    const socket = at('agent');
    const agent = spawn('ssh-agent', ['-D', '-a', socket], { stdio: ['ignore', 'pipe', 'inherit'] });
    await once(agent.stdout, 'data');
    const ssh = { ...good(), identityFile: undefined };
    const env = { SSH_AUTH_SOCK: socket };
    const empty = kbuild(['plan', '-i', inventory(ssh)], env);
    agent.kill();
    await once(agent, 'exit');
    expect(empty.status).toBe(3);
    expect(empty.stderr.trimEnd()).toMatch(/agent holds no key\n {2}→ load one: ssh-add; or set ssh\.identityFile$/);
    const gone = kbuild(['plan', '-i', inventory(ssh)], env);
    expect(gone.stderr.trimEnd()).toMatch(/agent does not answer: .*\n {2}→ start one: .*; or set ssh\.identityFile$/);
  });
});

test('etcd snapshot restore says first that there is no such file', () => {
  const ran = kbuild(['etcd', 'snapshot', 'restore', 'nothing.db', '-i', inventory(good())]);
  expect(ran.stderr).toMatch(/^kbuild: there is no snapshot \S+nothing\.db; no host was contacted\n {2}→ name a file/);
  expect(ran.status).toBe(2);
});

test('validate names a key file that this machine does not have, and where it stands', () => {
  const file = inventory({ ...good(), identityFile: at('missing') });
  const { status, stdout } = kbuild(['validate', file]);
  expect(status).toBe(0);
  expect(stdout).toMatch(/inventory\.yaml:1:\d+: ssh\.identityFile: .*missing: there is no such file; .*ssh-keygen/);
});

describe('a terminal, on which the key of a new host is shown as ssh shows it', { tags: ['script'] }, () => {
  const asked = async (known: string, ...answers: readonly string[]) => {
    writeFileSync(at(known), '');
    const file = inventory({ ...good(), knownHostsFile: at(known) });
    const terminal = onTerminal([process.execPath, program, 'plan', '-i', file], ENV, { columns: 200, rows: 50 });
    await terminal.shows('(yes/no/[fingerprint])? ', 30_000);
    const [, fingerprint = ''] = /ED25519 key fingerprint is (SHA256:[\w+/]{43})\./.exec(terminal.shown()) ?? [];
    for (const [i, answer] of answers.entries()) {
      if (i > 0) await terminal.shows("Please type 'yes', 'no' or the fingerprint: ", 30_000);
      terminal.type(`${answer === 'FINGERPRINT' ? fingerprint : answer}\r`);
    }
    const code = await terminal.ended;
    return { code, shown: terminal.shown(), recorded: readFileSync(at(known), 'utf8'), fingerprint };
  };

  test.each([
    ['yes', ['yes']],
    ['the fingerprint', ['FINGERPRINT']],
    ['yes after another word', ['y', 'yes']],
  ] as const)('%s records it, and the run goes on', async (_, answers) => {
    const ran = await asked(`asked-${String(answers.length)}`, ...answers);
    expect(ran.shown).toContain("The authenticity of host 'cp1 (127.0.0.1:");
    expect(ran.recorded).toBe(readFileSync(at('known'), 'utf8'));
    expect(ran.shown).toContain('observed 1 host');
  });

  test('no leaves it unknown, and ends the command with exit 3', async () => {
    const ran = await asked('asked-no', 'no');
    expect(ran.code).toBe(3);
    expect(ran.recorded).toBe('');
    expect(ran.shown).toContain('--accept-new-host-keys');
  });
});

describe('a host that is not as kbuild needs it', { tags: ['root', 'bash'] }, () => {
  test('without sudo: one reason, with what to install', async () => {
    const bin = at('bin');
    mkdirSync(bin);
    const server = await startSshd([`SetEnv PATH=${bin}`], (accounts) => `${accounts}guest:x:65501:65501::/:/bin/sh\n`);
    try {
      chmodSync(server.folder, 0o755);
      chmodSync(join(server.folder, 'authorized_keys'), 0o644);
      const ssh = {
        ...good(),
        user: 'guest',
        port: server.port,
        identityFile: join(server.folder, 'login'),
        knownHostsFile: join(server.folder, 'known_hosts'),
      };
      const ran = kbuild(['plan', '-i', inventory(ssh)]);
      expect(ran.status, ran.stderr).toBe(3);
      expect(ran.stderr.match(/sudo/g)!.length).toBeLessThanOrEqual(4);
      expect(ran.stderr.trimEnd()).toMatch(/there is no sudo, .*\n {2}→ install sudo, or put "permit nopass guest"/);
    } finally {
      await server.stop();
    }
  });

  test('without systemd: one reason, at once, and no wait for what it cannot tell (D13)', async () => {
    const server = await startSshd([], undefined, 'openrc-init');
    try {
      const ssh = {
        ...good(),
        port: server.port,
        identityFile: join(server.folder, 'login'),
        knownHostsFile: join(server.folder, 'known_hosts'),
      };
      for (const command of ['plan', 'reset']) {
        const ran = kbuild([command, '-i', inventory(ssh)]);
        expect(ran.status, ran.stderr).toBe(6);
        expect(ran.stderr.match(/^\d\d:\d\d:\d\d observed/gm), command).toHaveLength(1);
        expect(
          ran.stderr.match(/process 1 is openrc-init, and only systemd is supported\n {4}→ use a machine/g),
        ).toHaveLength(1);
        expect(ran.stderr).not.toContain('could not tell');
      }
    } finally {
      await server.stop();
    }
  });

  test('without a cluster: what needs one is refused with the command that builds it', () => {
    const bin = at('kubectl-bin');
    mkdirSync(bin);
    writeFileSync(join(bin, 'kubectl'), '#!/bin/sh\n', { mode: 0o755 });
    const file = inventory(good());
    for (const words of ['kubeconfig', 'proxy', 'certs recover', 'kubectl'].map((text) => text.split(' '))) {
      const rest = words[0] === 'kubectl' ? ['--', 'get', 'nodes'] : [];
      const ran = kbuild([...words, '-i', file, ...rest], { PATH: `${bin}:${ENV.PATH}` });
      expect(ran.stderr.trimEnd(), words.join(' ')).toMatch(
        /kbuild: prod: refused: there is no cluster yet\n {2}→ build it: `kbuild up`/,
      );
      expect(ran.status, words.join(' ')).toBe(7);
    }
  });

  test('with a login shell that talks: as if it were silent', async () => {
    const server = await startSshd([], '/bin/bash');
    try {
      writeFileSync(join(server.folder, '.bashrc'), 'echo "Welcome to the jungle"; echo "a warning" >&2\n');
      const ssh = {
        ...good(),
        port: server.port,
        identityFile: join(server.folder, 'login'),
        knownHostsFile: join(server.folder, 'known_hosts'),
      };
      const ran = kbuild(['check', '-i', inventory(ssh)]);
      expect(ran.stderr).toContain('observed 1 host');
      expect(`${ran.stdout}${ran.stderr}`).not.toMatch(/jungle|a warning/);
    } finally {
      await server.stop();
    }
  });

  test('with a login shell that takes long: the host is named while it is waited for, and one finding says why', async () => {
    const server = await startSshd([], '/bin/bash');
    try {
      writeFileSync(join(server.folder, '.bashrc'), 'sleep 3\n');
      const ssh = {
        ...good(),
        port: server.port,
        identityFile: join(server.folder, 'login'),
        knownHostsFile: join(server.folder, 'known_hosts'),
      };
      const ran = kbuild(['check', '-i', inventory(ssh)]);
      expect(ran.stderr).toMatch(/0 of 1 host answered after 2 s; waiting for cp1/);
      expect(ran.stdout.match(/slow-login/g)).toHaveLength(1);
      expect(ran.stdout).not.toContain('clock');
    } finally {
      await server.stop();
    }
  });
});
