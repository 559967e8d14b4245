import { chmodSync, readFileSync, writeFileSync } from 'node:fs';
import { afterEach, expect, test } from 'vitest';
import type { ConnectError } from '../../src/errors.ts';
import type { SshOptions } from '../../src/ssh/ssh2.ts';
import type { Transport } from '../../src/ssh/transport.ts';
import { dialSsh } from '../fakes/dial-ssh.ts';
import { type FakeCommand, type FakeSshOptions, fakeSshServer, type FakeSshServer } from '../fakes/ssh-server.ts';

const running: { stop(): Promise<void> }[] = [];
const dialled: Transport[] = [];

afterEach(async () => {
  await Promise.all(dialled.splice(0).map((transport) => transport.close()));
  await Promise.all(running.splice(0).map((server) => server.stop()));
});

async function serve(answer: (command: FakeCommand) => void | Promise<void>, options?: FakeSshOptions) {
  const server = await fakeSshServer(answer, options);
  running.push(server);
  return server;
}

async function dial({ host }: Pick<FakeSshServer, 'host'>, options: Partial<SshOptions> = {}) {
  const transport = await dialSsh(host, { policy: 'strict', pause: () => Promise.resolve(), ...options });
  dialled.push(transport);
  return transport;
}

const refusal = (dialling: Promise<unknown>): Promise<ConnectError> =>
  dialling.then(
    () => {
      throw new Error('was not refused');
    },
    (error: unknown) => error as ConnectError,
  );

const withKeys = ({ host }: FakeSshServer, ...identityFiles: string[]) => ({
  host: { ...host, ssh: { ...host.ssh, identityFiles } },
});

/** The key that another server lets in. */
const keyOfAnother = async (): Promise<string> => (await serve(exits(0))).host.ssh.identityFiles![0]!;

const exits = (status: number) => (command: FakeCommand) => {
  command.channel.resume();
  command.channel.exit(status);
  command.channel.end();
};

const echo = async (command: FakeCommand) => {
  command.channel.write(await command.stdin());
  command.channel.stderr.write(command.commandLine);
  exits(3)(command);
};

test('stdin arrives, both streams and the status come back', async () => {
  const transport = await dial(await serve(echo));
  const text = 'päßwörd\n'.repeat(50_000);
  expect(await transport.exec('/bin/sh -s', { stdin: text })).toEqual({
    stdout: text,
    stderr: '/bin/sh -s',
    status: 3,
  });
  expect(transport.commands).toBe(1);
  expect(transport.connections).toBe(1);
});

test('exactly one way to log in is tried', async () => {
  const server = await serve(exits(0));
  await dial(server);
  // A key is offered, then used.
  expect(server.logins).toEqual(['publickey', 'publickey']);
});

test('a wrong key is tried once, on one connection, and named', async () => {
  const server = await serve(exits(0), { ownKeyOnly: true });
  const wrong = await keyOfAnother();
  const pauses: number[] = [];
  const error = await refusal(dial(withKeys(server, wrong), { pause: (ms) => Promise.resolve(void pauses.push(ms)) }));
  expect(error).toMatchObject({
    message: `fake: 127.0.0.1:${String(server.port)}: root may not log in with ${wrong}`,
    retryable: false,
    remedy: `is ${wrong}.pub in ~root/.ssh/authorized_keys?`,
  });
  expect(server.logins).toEqual(['publickey']);
  expect(server.connections()).toBe(1);
  expect(pauses).toEqual([]);
});

test('of several keys each wrong one is tried once, on the connection that the right one then gets', async () => {
  const server = await serve(exits(0), { ownKeyOnly: true });
  const [own] = server.host.ssh.identityFiles!;
  const wrong = [await keyOfAnother(), await keyOfAnother()];
  expect((await refusal(dial(withKeys(server, ...wrong)))).message).toContain(
    `may not log in with ${wrong.join(', ')}`,
  );
  expect(server.logins).toEqual(['publickey', 'publickey']);
  expect(server.connections()).toBe(1);
  expect((await (await dial(withKeys(server, ...wrong, own!))).exec('x')).status).toBe(0);
  // The right one is offered, then used.
  expect(server.logins.slice(2)).toEqual(['publickey', 'publickey', 'publickey', 'publickey']);
  expect(server.connections()).toBe(2);
});

test('how long the server took to let in is known', async () => {
  const [quick, slow] = [await dial(await serve(exits(0))), await dial(await serve(exits(0), { loginAfterMs: 300 }))];
  expect(slow.loginMs).toBeGreaterThanOrEqual(300);
  expect(slow.loginMs! - quick.loginMs!).toBeGreaterThan(200);
});

test('an end by signal is named', async () => {
  const server = await serve(({ channel }) => {
    channel.exit('KILL', false, '');
    channel.end();
  });
  expect((await (await dial(server)).exec('x')).status).toBe('SIGKILL');
});

test('no status is unknown, not zero', async () => {
  const server = await serve(({ channel }) => void channel.end('partial'));
  expect(await (await dial(server)).exec('x')).toEqual({ stdout: 'partial', stderr: '', status: 'lost' });
});

test('a lost connection ends what runs as lost, and the next command makes a new one', async () => {
  const server = await serve((command) => {
    if (command.commandLine === 'drop') {
      command.channel.write('partial');
      setImmediate(command.drop);
    } else exits(0)(command);
  });
  const transport = await dial(server);
  expect(await transport.exec('drop')).toMatchObject({ status: 'lost' });
  const results = await Promise.all([transport.exec('a'), transport.exec('b'), transport.exec('c')]);
  expect(results.map(({ status }) => status)).toEqual([0, 0, 0]);
  expect(transport.connections).toBe(2);
});

test('connections that are dropped before the handshake are tried again', async () => {
  const server = await serve(exits(0), { dropFirst: 7 });
  expect((await (await dial(server)).exec('x')).status).toBe(0);
});

test.each([
  ['without a word: tried seventeen times', { dropFirst: 17 }],
  ['in the middle of the key exchange: tried four times', { dropInHandshake: 4 }],
])('connections that are dropped every time, %s, then told with what it may be', async (_, how) => {
  const server = await serve(exits(0), how);
  const error = await refusal(dial(server));
  expect(error.message).toMatch(/127\.0\.0\.1:\d+: the connection was (?:closed|reset) before the login$/);
  expect(error).toMatchObject({ retryable: true });
  expect(error.remedy).toContain('PerSourcePenalties');
  expect((await (await dial(server)).exec('x')).status).toBe(0);
});

test('connections that are dropped in the middle of the key exchange are tried again', async () => {
  const server = await serve(exits(0), { dropInHandshake: 3 });
  expect((await (await dial(server)).exec('x')).status).toBe(0);
});

test.each([1, 255])('a status of %d is the command’s own: the connection stays', async (status) => {
  const transport = await dial(await serve(exits(status)));
  expect((await transport.exec('x')).status).toBe(status);
  expect((await transport.exec('x')).status).toBe(status);
  expect(transport.connections).toBe(1);
});

test('a refused connection is retried and then told', async () => {
  const server = await serve(exits(0));
  const pauses: number[] = [];
  const host = { ...server.host, ssh: { ...server.host.ssh, port: 1 } };
  const error = await refusal(
    dial({ host }, { pause: (ms) => Promise.resolve(void pauses.push(ms)), random: () => 0.5 }),
  );
  expect(error).toMatchObject({
    message: 'fake: 127.0.0.1:1: connection refused',
    retryable: true,
    remedy: 'is sshd running, and is this its port?',
  });
  expect(pauses).toEqual([250, 500, 1000]);
});

test('no more than five channels are open at once', async () => {
  let now = 0;
  let most = 0;
  const server = await serve(async (command) => {
    most = Math.max(most, ++now);
    await command.stdin();
    now--;
    exits(0)(command);
  });
  const transport = await dial(server);
  await Promise.all(Array.from({ length: 20 }, () => transport.exec('x')));
  expect(most).toBe(5);
});

test('if a server allows fewer channels, kbuild opens the next one when another has closed', async () => {
  const server = await serve(exits(0), { sessions: 1 });
  const transport = await dial(server, { pause: (ms) => new Promise((done) => setTimeout(done, ms / 50)) });
  const results = await Promise.all(Array.from({ length: 8 }, () => transport.exec('x')));
  expect(results.map(({ status }) => status)).toEqual(Array(8).fill(0));
  expect(transport.connections).toBe(1);
});

test('endless output is bounded: beginning and end are kept', async () => {
  const block = 'x'.repeat(64 * 1024);
  const server = await serve(async (command) => {
    command.channel.write('begin\n');
    for (let i = 0; i < 320; i++)
      if (!command.channel.write(block)) await new Promise((done) => command.channel.once('drain', done));
    command.channel.write('\nend');
    exits(0)(command);
  });
  const { stdout, dropped } = await (await dial(server)).exec('x', { maxBytes: 100_000 });
  expect(stdout.length).toBeLessThan(101_000);
  expect(stdout).toMatch(/^begin\n/);
  expect(stdout).toMatch(/\nend$/);
  expect(stdout).toContain(`[${String(dropped)} bytes left out]`);
});

test('an open channel talks both ways, line by line, and ends when it is closed', async () => {
  const server = await serve(async (command) => {
    command.channel.on('data', (chunk: Buffer) => command.channel.write(String(chunk).toUpperCase()));
    await command.stdin();
    exits(0)(command);
  });
  const channel = await (await dial(server)).open('x', 'one\ntw');
  const lines: string[] = [];
  await new Promise<void>((done) => {
    channel.onLine((line) => {
      lines.push(line);
      if (lines.length === 2) done();
    });
    channel.write('o\nrest');
  });
  channel.close();
  expect((await channel.ended).status).toBe(0);
  expect(lines).toEqual(['ONE', 'TWO']);
});

test('an unknown host key is refused before any login, with the fingerprint and the way to go', async () => {
  const server = await serve(exits(0));
  writeFileSync(server.knownHosts, '');
  const error = await refusal(dial(server));
  expect(error.retryable).toBe(false);
  expect(error.message).toMatch(/the host key is not known: ED25519 key fingerprint is SHA256:[\w+/]{43}$/);
  expect(error.remedy).toMatch(/^compare the fingerprint with the one on the console of the host/);
  expect(error.remedy).toContain('--accept-new-host-keys');
  expect(server.logins).toEqual([]);
});

test('accept-new records an unknown key once, 0600, and knows it afterwards', async () => {
  const server = await serve(exits(0));
  writeFileSync(server.knownHosts, '# no line break at the end');
  await dial(server, { policy: 'accept-new' });
  await dial(server, { policy: 'accept-new' });
  await dial(server, { policy: 'strict' });
  expect(readFileSync(server.knownHosts, 'utf8')).toBe(
    `# no line break at the end\n[127.0.0.1]:${String(server.port)} ${server.keys['ssh-ed25519']!}\n`,
  );
});

test.each(['strict', 'accept-new'] as const)(
  'a changed host key is refused (%s): both fingerprints, file and line',
  async (policy) => {
    const [server, other] = [await serve(exits(0)), await serve(exits(0))];
    writeFileSync(server.knownHosts, `# a\n[127.0.0.1]:${String(server.port)} ${other.keys['ssh-ed25519']!}\n`);
    const error = await refusal(dial(server, { policy }));
    expect(error.retryable).toBe(false);
    expect(error.message).toMatch(/CHANGED.*SHA256:[\w+/]{43}, but .*known_hosts:2 has ssh-ed25519 SHA256:[\w+/]{43}$/);
    expect(server.logins).toEqual([]);
  },
);

test('a revoked host key is refused', async () => {
  const server = await serve(exits(0));
  const key = server.keys['ssh-ed25519']!;
  writeFileSync(server.knownHosts, `* ${key}\n@revoked * ${key}\n`);
  const error = await refusal(dial(server, { policy: 'accept-new' }));
  expect(error.message).toMatch(/is revoked at .*known_hosts:2$/);
  expect(server.logins).toEqual([]);
});

test.each([
  ['ecdsa-sha2-nistp256', ['ed25519', 'ecdsa', 'rsa']],
  ['ssh-rsa', ['ed25519', 'ecdsa', 'rsa']],
] as const)('a host that is on file with %s only is asked for that key', async (type, hostKeys) => {
  const server = await serve(exits(0), { hostKeys });
  writeFileSync(server.knownHosts, `[127.0.0.1]:${String(server.port)} ${server.keys[type]!}\n`);
  expect((await (await dial(server)).exec('x')).status).toBe(0);
});

test('the reasons why keys cannot be used are distinguished, and nothing is sent', async () => {
  const server = await serve(exits(0));
  const encrypted = `${server.knownHosts}.encrypted`;
  const { utils } = (await import('ssh2')).default;
  writeFileSync(
    encrypted,
    utils.generateKeyPairSync('ed25519', { passphrase: 'x', cipher: 'aes256-ctr', rounds: 1 }).private,
    { mode: 0o600 },
  );
  const securityKey = `${server.knownHosts}.sk`;
  writeFileSync(securityKey, privateKeyOfType('sk-ssh-ed25519@openssh.com'), { mode: 0o600 });
  const withKey = (identityFile: string) => withKeys(server, identityFile);
  expect((await refusal(dial(withKey(encrypted)))).message).toBe(`fake: the SSH key ${encrypted} is encrypted`);
  expect((await refusal(dial(withKey('/nonexistent')))).message).toContain('cannot read the SSH key /nonexistent');
  chmodSync(server.knownHosts, 0o600);
  expect((await refusal(dial(withKey(server.knownHosts)))).message).toContain('is no SSH private key');
  expect(await refusal(dial(withKey(securityKey)))).toMatchObject({
    message: `fake: the SSH key ${securityKey} is of a security key (FIDO), which the built-in client cannot use`,
    remedy: 'set ssh.client: openssh, or log in with a key of another kind',
  });
  const { user, port, knownHostsFiles } = server.host.ssh;
  const noKey = { ...server.host, ssh: { user, port, knownHostsFiles } };
  expect((await refusal(dial({ host: noKey }))).message).toBe(
    'fake: no SSH key to log in with: the inventory names none, and no agent runs ($SSH_AUTH_SOCK is not set)',
  );
  expect(server.connections()).toBe(0);
});

test('a key that others can read is refused, as ssh refuses it', async () => {
  const server = await serve(exits(0));
  const [file] = server.host.ssh.identityFiles!;
  for (const mode of [0o644, 0o640, 0o604]) {
    chmodSync(file!, mode);
    expect(await refusal(dial(server))).toMatchObject({
      message: `fake: others can read the SSH key ${file!}, so that it is not used`,
      remedy: `chmod 600 ${file!}`,
    });
  }
  expect(server.connections()).toBe(0);
  chmodSync(file!, 0o400);
  expect((await (await dial(server)).exec('x')).status).toBe(0);
});

test('of several keys those that cannot be used are skipped; they are reported only if no key is left', async () => {
  const server = await serve(exits(0));
  const [own] = server.host.ssh.identityFiles!;
  expect((await (await dial(withKeys(server, '/nonexistent', own!, '/nor-this'))).exec('x')).status).toBe(0);
  expect((await refusal(dial(withKeys(server, '/nonexistent', '/nor-this')))).message).toMatch(
    /cannot read the SSH key \/nonexistent: .*; cannot read the SSH key \/nor-this: /,
  );
});

/** A private key in OpenSSH's format, of which only the type is real. */
function privateKeyOfType(type: string): string {
  const number = (value: number) => {
    const buffer = Buffer.alloc(4);
    buffer.writeUInt32BE(value);
    return buffer;
  };
  const text = (value: string | Buffer) => Buffer.concat([number(Buffer.byteLength(value)), Buffer.from(value)]);
  const half = Buffer.concat([text(type), text(Buffer.alloc(32)), text('ssh:')]);
  const own = Buffer.concat([number(7), number(7), half, Buffer.alloc(16, 1)]);
  const blob = Buffer.concat([
    Buffer.from('openssh-key-v1\0'),
    ...[text('none'), text('none'), text(''), number(1), text(half), text(own)],
  ]);
  const lines = blob.toString('base64').match(/.{1,70}/g)!;
  return ['-----BEGIN OPENSSH PRIVATE KEY-----', ...lines, '-----END OPENSSH PRIVATE KEY-----', ''].join('\n');
}
