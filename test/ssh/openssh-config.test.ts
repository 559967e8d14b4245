import { describe, expect, test } from 'vitest';
import { configFile } from '../../src/ssh/openssh-config.ts';
import { linuxHost } from '../fakes/inventory.ts';

const plain = linuxHost('a');
const made = (host: typeof plain) =>
  configFile(host, {
    policy: 'strict',
    home: '/root',
    connectTimeoutMs: 1000,
    hasKnownHostsCommand: true,
    put: (name) => `/tmp/${name}`,
  });

describe.each(['\n', ' ', '\t', '\r', '"', '\u0000'])('past the schema, %j in a name', (sign) => {
  const nasty = `x${sign}ProxyCommand touch /tmp/canary`;
  const bastion = { user: 'root', port: 22, knownHostsFiles: ['/kh'], address: 'b' };

  test.each([
    ['an address', { ...plain, address: nasty }],
    ['a user', { ...plain, ssh: { ...plain.ssh, user: nasty } }],
    ['the address of a bastion', { ...plain, ssh: { ...plain.ssh, bastions: [{ ...bastion, address: nasty }] } }],
    ['the user of a bastion', { ...plain, ssh: { ...plain.ssh, bastions: [{ ...bastion, user: nasty }] } }],
  ])('%s: no configuration for OpenSSH is made of it', (_, host) => {
    expect(() => made(host)).toThrow(TypeError);
  });
});

describe('an ssh older than 8.5', () => {
  test('gets no option that it does not know', () => {
    const pinned = { ...plain, ssh: { ...plain.ssh, hostKeys: ['ssh-ed25519 AAAA'] } };
    expect(made(pinned)).toContain('KnownHostsCommand none\n');
    const put = (name: string): string => `/tmp/${name}`;
    const options = { policy: 'strict', home: '/root', connectTimeoutMs: 1000, put } as const;
    expect(configFile(pinned, { ...options, hasKnownHostsCommand: false })).not.toContain('KnownHostsCommand');
  });
});

test('a usual name is a line of its own', () => {
  expect(made(plain)).toContain(`Host ${plain.address}\n`);
});
