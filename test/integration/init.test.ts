// @module-tag linux
// @module-tag ssh
// @module-tag sshd
/** `kbuild init` with a real SSH server: what it asks, what it finds out by itself, and what it leaves behind. */
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { CTRL_C, onTerminal } from '../lab/pseudo-terminal.ts';
import { type Sshd, startSshd } from './sshd.ts';

const program = fileURLToPath(new URL('../../dist/cli/main.js', import.meta.url));
const home = mkdtempSync(join(tmpdir(), 'kbuild-init-'));
const at = (name: string): string => join(home, name);
const me = userInfo().username;
let sshd: Sshd;
let host: string;

beforeAll(async () => {
  sshd = await startSshd();
  host = `cp1=${me}@localhost:${String(sshd.port)}`;
});
afterAll(async () => {
  await sshd.stop();
  rmSync(home, { recursive: true });
});

const knows = (text: string): void => writeFileSync(at('.ssh/known_hosts'), text);
const key = (): string => readFileSync(join(sshd.folder, 'known_hosts'), 'utf8').split(' ').slice(1).join(' ');

beforeEach(() => {
  rmSync(home, { recursive: true });
  mkdirSync(at('.ssh'), { recursive: true });
  mkdirSync(at('work'));
  knows(`[localhost]:${String(sshd.port)} ${key()}`);
});

const ENV = { HOME: home, PATH: process.env['PATH'] ?? '' };
const run = (...args: readonly string[]) =>
  spawnSync(process.execPath, [program, ...args], { env: ENV, cwd: at('work'), encoding: 'utf8' });
/** IPv4 addresses of this machine, the one host of the tests, those of interfaces without a cable too. */
const own = (): readonly string[] =>
  [...spawnSync('ip', ['-o', '-4', 'addr'], { encoding: 'utf8' }).stdout.matchAll(/ inet ([\d.]+)/g)].map(
    ([, address]) => address!,
  );

describe('init --hosts without a terminal', () => {
  const init = (...args: readonly string[]) => run('init', '--identity-file', join(sshd.folder, 'login'), ...args);

  test('finds the address of a host that is known by name, and prints a valid inventory', { tags: ['address'] }, () => {
    const { status, stdout, stderr } = init('--hosts', host);
    expect(status, stderr).toBe(0);
    expect(stderr).toMatch(/^✔ cp1: .+, (?:x86_64|aarch64)/m);
    expect(stderr).toMatch(/next: kbuild check FILE\n$/);
    const [, internal = ''] = /name: cp1, address: localhost, internalAddress: ([\d.]+), role/.exec(stdout) ?? [];
    expect(own()).toContain(internal);
    writeFileSync(at('work/inventory.yaml'), stdout);
    expect(run('validate').status).toBe(0);
  });

  test('an unknown host key is exit 3 with the remedy, and nothing is written', () => {
    knows('');
    const { status, stdout, stderr } = init('--hosts', host, 'inventory.yaml');
    expect(status).toBe(3);
    expect(stdout).toBe('');
    expect(stderr).toContain('--accept-new-host-keys');
    expect(readdirSync(at('work'))).toEqual([]);
  });

  test('--accept-new-host-keys records it', { tags: ['address'] }, () => {
    knows('');
    expect(init('--hosts', host, '--accept-new-host-keys').status).toBe(0);
    expect(readFileSync(at('.ssh/known_hosts'), 'utf8')).toContain(key().trim());
  });

  test('a host with an address that does not answer is said, and the inventory is written all the same', () => {
    const { status, stdout, stderr } = init('--hosts', `${me}@127.0.0.1:1/10.9.0.1`);
    expect(stderr).toMatch(/^! cp1: 127\.0\.0\.1:1: connection refused/m);
    expect(status, stderr).toBe(0);
    expect(stdout).toContain('internalAddress: 10.9.0.1');
  });

  test('--families needs SSH for both, and takes IPv6 as it is written', () => {
    const both = init('--hosts', `${me}@127.0.0.1:1`, '--no-ssh', '--families', 'ipv4,ipv6');
    expect(both.status).toBe(2);
    expect(both.stderr).toContain('the addresses of cp1 in both families are not known');
    const six = init('--control-plane', 'fd00::11', '--worker', 'fd00::21', '--families', 'ipv6', 'six.yaml');
    expect(six.status, six.stderr).toBe(0);
    expect(readFileSync(at('work/six.yaml'), 'utf8')).toMatch(/^network: \{ podSubnet: .*fd00:10:244::\/56/m);
    expect(run('validate', 'six.yaml').status).toBe(0);
    expect(run('init', '--families', 'ipv4,ipv6', 'example.yaml').status).toBe(0);
    expect(run('validate', 'example.yaml').status).toBe(0);
  });

  test('--no-ssh connects to none', () => {
    const { status, stderr } = init('--hosts', `${me}@127.0.0.1:1/10.9.0.1`, '--no-ssh');
    expect({ status, stderr }).toEqual({ status: 0, stderr: 'next: kbuild check FILE\n' });
  });
});

describe('init on a terminal', { tags: ['script'] }, () => {
  const size = { columns: 200, rows: 50 };
  const terminal = () =>
    onTerminal(['sh', '-c', `cd ${at('work')} && exec ${process.execPath} ${program} init`], ENV, size);

  test('finds out by SSH what it does not ask, and writes the file at the end', async () => {
    const asked = terminal();
    const answer = async (question: string, text: string): Promise<void> => {
      await asked.shows(question, 30_000);
      asked.type(`${text}\r`);
    };
    await answer('Name of the cluster [demo]: ', 'prod');
    await answer('Hosts, control planes first: ', host);
    await answer('Private key', join(sshd.folder, 'login'));
    await answer('Connect to the hosts now', '');
    await answer('Kubernetes version', '');
    await asked.shows(/ cp1: .*(?:x86_64|aarch64)/, 30_000);
    // As many networks as this machine has.
    await asked.shows(/Addresses of pods|Which network carries the cluster|IPv4 address of cp1|A free address/, 30_000);
    if (/Addresses of pods/.test(asked.shown())) {
      asked.type('\r');
      await asked.shows(/Which network carries the cluster|IPv4 address of cp1|A free address/, 30_000);
    }
    if (/Which network/.test(asked.shown())) asked.type('\r');
    if (/IPv4 address of cp1/.test(asked.shown())) asked.type('10.9.0.1\r');
    await answer('A free address', '');
    await answer('host:port of a load balancer', '');
    expect(readdirSync(at('work'))).toEqual([]);
    await answer('File to write', '');
    expect(await asked.ended).toBe(0);
    expect(asked.shown()).toContain('next: kbuild check inventory.yaml');
    expect(readFileSync(at('work/inventory.yaml'), 'utf8')).toMatch(/^name: prod$/m);
    expect(run('validate').status).toBe(0);
  });

  test('an unknown host key is asked about after the question that is open', async () => {
    knows('');
    const asked = terminal();
    const answer = async (question: string, text: string): Promise<void> => {
      await asked.shows(question, 30_000);
      asked.type(`${text}\r`);
    };
    await answer('Name of the cluster', '');
    await answer('Hosts, control planes first', `${host}/10.9.0.1`);
    await answer('Private key', join(sshd.folder, 'login'));
    await answer('Connect to the hosts now', '');
    await asked.shows('Kubernetes version', 30_000);
    expect(asked.shown()).not.toContain('authenticity');
    asked.type('\r');
    await answer('(yes/no/[fingerprint])? ', 'yes');
    await asked.shows(/ cp1: .*(?:x86_64|aarch64)/, 30_000);
    asked.type(CTRL_C);
    expect(await asked.ended).toBe(130);
    expect(readdirSync(at('work'))).toEqual([]);
  });
});
