// @module-tag linux
/** The program as it is built speaks with servers of any of these ciphers: what it needs for each is made late. */
import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, expect, test } from 'vitest';
import { fakeSshServer } from '../fakes/ssh-server.ts';

const program = fileURLToPath(new URL('../../dist/cli/main.js', import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'kbuild-ciphers-'));
afterAll(() => rmSync(folder, { recursive: true }));

test.each(['chacha20-poly1305@openssh.com', 'aes128-gcm@openssh.com', 'aes256-ctr'] as const)('%s', async (cipher) => {
  const scripts: string[] = [];
  const ssh = await fakeSshServer(
    async ({ channel, stdin }) => {
      const script = await stdin();
      scripts.push(script);
      const begun = /^echo (\w+); echo \1 >&2$/m.exec(script)![1]!;
      channel.stderr.write(`${begun}\n`);
      channel.write(`${begun}\n`);
      channel.exit(0);
      channel.end();
    },
    { ciphers: [cipher] },
  );
  try {
    const inventory = join(folder, 'inventory.yaml');
    const login = { user: 'root', port: ssh.port, identityFile: ssh.host.ssh.identityFiles![0]! };
    const hosts = [{ name: 'cp1', address: '127.0.0.1', internalAddress: '10.77.0.13', role: 'control-plane' }];
    writeFileSync(
      inventory,
      JSON.stringify({
        name: 'prod',
        kubernetes: { version: '1.36.3' },
        ssh: { ...login, knownHostsFile: ssh.knownHosts },
        hosts,
      }),
    );
    const env = { HOME: folder, PATH: process.env['PATH'] ?? '' };
    const stderr = await new Promise<string>((resolve) => {
      execFile(process.execPath, [program, 'plan', '-i', inventory], { env }, (_, __, text) => resolve(text));
    });
    expect(stderr).toContain('observed 1 host');
    // All of a long script arrives.
    expect(scripts.find((script) => script.length > 50_000)).toMatch(/\n$/);
  } finally {
    await ssh.stop();
  }
});
