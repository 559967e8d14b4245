/** Hosts that send what steers a terminal: kbuild as its users run it shows it, and never passes it on. */
import { execFileSync, spawn } from 'node:child_process';
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, expect, test } from 'vitest';
import { onTerminal } from '../lab/pseudo-terminal.ts';
import { startSshd } from './sshd.ts';

const program = fileURLToPath(new URL('../../dist/cli/main.js', import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'kbuild-steering-'));
const at = (name: string): string => join(folder, name);
afterAll(() => rmSync(folder, { recursive: true }));

/** Sets the window's title, clears the screen, writes backwards. */
const STEERING = '\u001b]0;owned\u0007\u001b[2J\u009b31m\u202e';
const SHOWN = String.raw`\x1b]0;owned\x07\x1b[2J\x9b31m\u202e`;
const ANY = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202e]/;

/** SSH_MSG_DISCONNECT (RFC 4253, 11.1; a protocol error) as the first packet, before keys were exchanged. */
function disconnect(description: string): Buffer {
  const text = Buffer.from(description);
  const payload = Buffer.alloc(1 + 4 + 4 + text.length + 4);
  payload[0] = 1;
  payload.writeUInt32BE(2, 1);
  payload.writeUInt32BE(text.length, 5);
  text.copy(payload, 9);
  const padding = 16 - ((5 + payload.length) % 8);
  const head = Buffer.alloc(5);
  head.writeUInt32BE(1 + payload.length + padding);
  head[4] = padding;
  return Buffer.concat([head, payload, Buffer.alloc(padding)]);
}

function inventory(port: number, ssh: string): string {
  writeFileSync(
    at('inventory.yaml'),
    `name: c\nnetwork: { podSubnet: 10.128.0.0/12 }\nkubernetes: { version: "1.36.3" }\nhosts:
  - { name: h1, address: 127.0.0.1, internalAddress: 10.9.0.1, role: control-plane, ssh: { port: ${String(port)}, ${ssh} } }\n`,
  );
  return at('inventory.yaml');
}

/** Records of runs stay in the test's own folder. */
const stateOf = (): Readonly<Record<string, string>> => ({ XDG_STATE_HOME: at('state') });

async function kbuild(...args: readonly string[]): Promise<string> {
  const child = spawn(process.execPath, [program, ...args, '--log-file', at('log')], {
    stdio: 'pipe',
    env: { ...process.env, ...stateOf() },
  });
  let said = '';
  child.stdout.on('data', (chunk: Buffer) => (said += chunk.toString()));
  child.stderr.on('data', (chunk: Buffer) => (said += chunk.toString()));
  await new Promise((resolve) => child.on('close', resolve));
  return said;
}

test(
  'a server that disconnects before its host key was checked cannot steer the terminal',
  { tags: ['linux', 'script', 'ssh'] },
  async () => {
    const server = createServer((socket) => {
      socket.on('error', () => undefined);
      socket.write('SSH-2.0-server\r\n');
      socket.once('data', () => socket.write(disconnect(`go away ${STEERING}`)));
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    try {
      execFileSync('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-f', at('id')]);
      const file = inventory(port, `user: root, identityFile: ${at('id')}, knownHostsFile: ${at('known')}`);
      const json = await kbuild('plan', file, '--json');
      expect(json).toContain('go away');
      expect(json).not.toMatch(ANY);
      expect(readFileSync(at('log'), 'utf8')).not.toMatch(ANY);
      const { shown, ended } = onTerminal(
        [process.execPath, program, 'check', file, '--log-file', at('log')],
        stateOf(),
      );
      await ended;
      expect(shown()).toContain(`go away ${SHOWN}`);
      expect(shown()).not.toMatch(/\u001b\]0;|\u001b\[2J|\u009b/);
    } finally {
      server.close();
    }
  },
);

test(
  'what a host prints on a real sshd, on stdout and stderr, cannot steer the terminal',
  { tags: ['linux', 'script', 'ssh', 'sshd'] },
  async () => {
    writeFileSync(at('bytes'), STEERING);
    writeFileSync(
      at('shell'),
      `#!/bin/sh\ncat ${at('bytes')}; cat ${at('bytes')} >&2; echo no shell here >&2; exit 9\n`,
    );
    chmodSync(at('shell'), 0o755);
    const sshd = await startSshd([`ForceCommand ${at('shell')}`]);
    try {
      const own = `user: ${userInfo().username}, identityFile: ${join(sshd.folder, 'login')}, knownHostsFile: ${join(sshd.folder, 'known_hosts')}`;
      const said = await kbuild('check', inventory(sshd.port, own));
      expect(said).toContain(SHOWN);
      expect(said).not.toMatch(ANY);
    } finally {
      await sshd.stop();
    }
  },
);
