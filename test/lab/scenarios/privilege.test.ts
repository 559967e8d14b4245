/** How kbuild becomes root: sudo with and without a password, doas, other languages of an account, a wrong password tried once. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Secret } from '../../../src/shell/secret.ts';
import { sh } from '../../../src/shell/sh.ts';
import { linuxRemote, type LinuxRemote } from '../../../src/ssh/linux.ts';
import { dialSsh } from '../../fakes/dial-ssh.ts';
import { linuxHost } from '../../fakes/inventory.ts';
import * as lab from '../lab.ts';

const NAME = 'priv-w1';
const PASSWORD = "correct 'horse' $battery";
const remotes: LinuxRemote[] = [];
const inside = async (command: string) => (await lab.inside(NAME, command)).stdout.trim();

/** Users by what sudo makes of them; all log in with the lab's key and have the same password. */
const USERS = {
  asks: { shell: '/bin/bash', rule: 'ALL=(ALL:ALL) ALL' },
  free: { shell: '/bin/dash', rule: 'ALL=(ALL:ALL) NOPASSWD: ALL' },
  nobodys: { shell: '/bin/bash', rule: undefined },
  wantstty: { shell: '/bin/bash', rule: 'ALL=(ALL:ALL) NOPASSWD: ALL' },
  noshell: { shell: '/usr/sbin/nologin', rule: 'ALL=(ALL:ALL) NOPASSWD: ALL' },
  noisy: { shell: '/bin/bash', rule: 'ALL=(ALL:ALL) ALL' },
} as const;
type User = keyof typeof USERS;

async function connect(user: User, password?: string) {
  const { address } = lab.hostSettings(NAME);
  const host = linuxHost(NAME, {
    address,
    ssh: { user, port: 22, identityFiles: [lab.paths.identityFile], knownHostsFiles: [lab.paths.knownHostsFile] },
  });
  let asked = 0;
  const log: object[] = [];
  const remote = linuxRemote(host, await dialSsh(host, { policy: 'strict' }), {
    runId: `priv${String(process.pid)}-${String(remotes.length)}`,
    log: (entry) => log.push(entry),
    sudoPassword: () => {
      asked++;
      return Promise.resolve(password === undefined ? undefined : Secret.of(password));
    },
  });
  remotes.push(remote);
  return { remote, log, asked: () => asked };
}

beforeAll(async () => {
  await lab.up([NAME]);
  for (const [user, { shell, rule }] of Object.entries(USERS)) {
    await inside(
      [
        `useradd -m -s ${shell} ${user}`,
        `cp -r /home/ops/.ssh /home/${user}/ && chown -R ${user}: /home/${user}/.ssh`,
        rule === undefined ? ':' : `echo '${user} ${rule}' >/etc/sudoers.d/${user}`,
      ].join(' && '),
    );
  }
  const lines = Object.keys(USERS).map((user) => `${user}:${PASSWORD}`);
  await inside(`echo ${Buffer.from(lines.join('\n')).toString('base64')} | base64 -d | chpasswd`);
  await inside("echo 'Defaults:wantstty requiretty' >/etc/sudoers.d/wantstty-2");
  await inside(
    `echo 'head -c 100000 /dev/zero | tr "\\0" x; echo; sleep 0.3; export LC_ALL=C.UTF-8 LANG=ja_JP.UTF-8 LANGUAGE=de' | cat - /home/noisy/.bashrc >/root/rc; cp /root/rc /home/noisy/.bashrc`,
  );
}, 300_000);
afterAll(async () => {
  await Promise.all(remotes.map((remote) => remote.close()));
  await lab.down([NAME]);
});

test.each(['asks', 'noisy'] as const)('sudo with a password does everything that root does (%s)', async (user) => {
  const folder = mkdtempSync(join(tmpdir(), 'kbuild-priv-'));
  const { remote, log, asked } = await connect(user, PASSWORD);
  expect(await remote.run(sh`id -un; echo "$LC_ALL"; cat`)).toBe('root\nC\n');
  await expect(remote.run(sh`echo err >&2; exit 7`)).rejects.toMatchObject({ status: 7, stderr: 'err\n' });
  await remote.write('/root/deep/file', 'content\n');
  expect(await remote.read('/root/deep/file')).toBe('content\n');
  const local = join(folder, 'local');
  writeFileSync(local, 'x'.repeat(3_000_000));
  await remote.upload(local, '/root/up');
  await remote.download('/root/up', join(folder, 'down'));
  expect(await remote.job('who', sh`id -un`)).toBe('root\n');
  const held = await remote.hold(sh`echo held; cat >/dev/null`);
  expect(held.first).toBe('held');
  await held.release();
  expect(asked()).toBe(1);
  expect(JSON.stringify(log)).not.toContain('horse');
  expect(await inside('ls -d /tmp/tmp.* 2>/dev/null || :')).toBe('');
  rmSync(folder, { recursive: true });
});

test('the language of an account is not that of what kbuild reads', async () => {
  const apt = 'apt-get -s remove nowhere-to-be-found 2>&1';
  // It speaks German there, where it is asked to.
  expect(await inside(`LC_ALL=C.UTF-8 LANGUAGE=de ${apt} || :`)).toContain('E: Paket');
  const { remote } = await connect('noisy', PASSWORD);
  const said = await remote.run(sh`echo "$LANGUAGE"; apt-get -s remove nowhere-to-be-found 2>&1 || :`);
  expect(said).toContain('E: Unable to locate package nowhere-to-be-found');
  const job = sh`apt-get -s remove nowhere-to-be-found 2>&1 || :`;
  expect(await remote.job('language', job)).toContain('E: Unable to locate package');
  await remote.close();
});

test('what runs as root is never given the password, nor is it in any argument', async () => {
  const { remote } = await connect('asks', PASSWORD);
  const seen = await remote.run(
    sh`cat; for p in /proc/[0-9]*; do tr '\0' ' ' <"$p/cmdline" 2>/dev/null || :; done; env`,
  );
  expect(seen).toContain('sudo -k -S');
  expect(seen).not.toContain('battery');
});

test('if sudo needs no password, kbuild neither asks for one nor sends it', async () => {
  const { remote, asked } = await connect('free', PASSWORD);
  expect(await remote.run(sh`id -un; cat`)).toBe('root\n');
  expect(asked()).toBe(0);
});

test('a wrong password is tried exactly once', async () => {
  const attempts = () => inside("journalctl -q _COMM=sudo | grep -c 'authentication failure' || :");
  const before = Number(await attempts());
  const { remote } = await connect('asks', 'wrong');
  await expect(remote.run(sh`id`)).rejects.toThrow('sudo does not accept the password; it was tried once');
  await expect(remote.run(sh`id`)).rejects.toThrow('it was tried once');
  await expect.poll(attempts, { timeout: 10_000 }).toBe(String(before + 1));
  expect(await inside("journalctl -q _COMM=sudo | grep -o '[0-9]* incorrect password attempt' | tail -1")).toBe(
    '1 incorrect password attempt',
  );
});

test.each<[User, string | undefined, string]>([
  ['asks', undefined, 'asks cannot become root: sudo wants a password'],
  ['nobodys', PASSWORD, 'nobodys cannot become root: sudo does not allow it'],
  ['wantstty', undefined, 'wantstty cannot become root: sudo wants a terminal'],
  ['noshell', undefined, 'noshell cannot become root: its login shell runs nothing'],
])('%s is told what is missing', async (user, password, message) => {
  const { remote } = await connect(user, password);
  await expect(remote.run(sh`id`)).rejects.toThrow(message);
});

test('without sudo, doas; without both, it is said', async () => {
  const { remote } = await connect('free');
  await inside('mv /usr/bin/sudo /usr/bin/sudo.away');
  try {
    await expect(remote.run(sh`id`)).rejects.toThrow('free cannot become root: there is no sudo');
  } finally {
    await inside('mv /usr/bin/sudo.away /usr/bin/sudo');
  }
});
