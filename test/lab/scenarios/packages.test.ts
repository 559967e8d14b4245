/**
 * Packages where things go wrong: a repository that is down, empty, tampered with, unsigned, outdated, or signed with a key
 * that has expired: nothing is installed, and each is distinguished. kbuild waits for a host that is busy with packages. A key
 * that runs out soon is fetched again.
 */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { stringify } from 'yaml';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { badRepository, type BadRepository } from '../bad-repository.ts';
import { inventoryFile, kbuild, start, type Ran } from '../kbuild.ts';
import * as lab from '../lab.ts';
import { unchanged } from '../ok.ts';
import { PATIENCE_MS, waitUntil } from '../wait-until.ts';

const HOST = 'pkcp1';
/** A user id of the key that has expired. */
const OLD = 'kbuild test';

let file: string;
let base: lab.LabInventory;
let repository: BadRepository;
let keys: string;

const inside = async (command: string): Promise<string> => (await lab.inside(HOST, command)).stdout.trim();
const write = (runtime: object): void =>
  writeFileSync(
    file,
    stringify(
      { ...base, runtime: { ...(base['runtime'] as object), repository: runtime } },
      { aliasDuplicateObjects: false },
    ),
  );
const UP = () => ['up', file, '--yes', '--phase', 'prepare,runtime', '--kubeconfig', `${file}.kubeconfig`];
const up = (): Promise<Ran> => kbuild(...UP());
const ours = () => {
  const { repository: settings } = base['runtime'] as { readonly repository: object };
  return { ...settings, url: `${repository.url}/containerd`, key: `${repository.url}/containerd/gpg` };
};

const gpg = (home: string, args: readonly string[], input?: Buffer): Buffer =>
  execFileSync('gpg', ['--homedir', home, '--batch', '--quiet', '--yes', ...args], {
    stdio: ['pipe', 'pipe', 'ignore'],
    ...(input === undefined ? {} : { input }),
  });
/** What InRelease says, without its signature. */
const signedText = (inRelease: Buffer): string =>
  /-----BEGIN PGP SIGNED MESSAGE-----\n(?:\S.*\n)*\n([\s\S]*?)-----BEGIN PGP SIGNATURE-----/.exec(
    inRelease.toString(),
  )![1]!;
const isSigned = (path: string): boolean => /\/(?:InRelease|Release\.gpg)$/.test(path);

beforeAll(async () => {
  await lab.up([HOST]);
  await lab.reset([HOST]);
  repository = await badRepository();
  base = { ...(await lab.inventory([HOST])), name: 'packages' };
  ({ file } = inventoryFile({}));
  process.env['XDG_STATE_HOME'] = `${file}.state`;
  keys = mkdtempSync(join(tmpdir(), 'kbuild-gpg-'));
  const long_ago = ['--faked-system-time', '20200101T000000!'];
  gpg(keys, [...long_ago, '--passphrase', '', '--quick-gen-key', OLD, 'rsa2048', 'sign', '1d']);
});

afterAll(async () => {
  await repository.close();
  execFileSync('gpgconf', ['--homedir', keys, '--kill', 'all']);
  rmSync(keys, { recursive: true });
  await lab.down([HOST]);
});

test('each fault of a repository is distinguished, and nothing is installed', async () => {
  const fingerprint = /^fpr:*([0-9A-F]{40}):/m.exec(gpg(keys, ['--with-colons', '--fingerprint', OLD]).toString())![1]!;
  const cases: readonly {
    readonly fault: string;
    readonly code: number;
    readonly says: RegExp;
    readonly make: () => void | Promise<void>;
  }[] = [
    {
      fault: 'no server listens',
      code: 6,
      says: /cannot get the repository of containerd: .*Could not connect/,
      make: () => repository.close(),
    },
    {
      fault: 'nothing is there',
      code: 6,
      says: /cannot get the repository of containerd: .* is not there \(404\)/,
      make: async () => {
        await repository.open();
        repository.tamper = () => 'missing';
      },
    },
    {
      fault: 'the list of packages was tampered with',
      code: 4,
      says: /cause: a package is not what the repository says it is/,
      make: () => {
        repository.tamper = (path, content) =>
          /\/Packages(?:\.gz)?$/.test(path) ? Buffer.from(content).fill('x', 100, 120) : content;
      },
    },
    {
      fault: 'a package was tampered with',
      code: 4,
      says: /cause: a package is not what the repository says it is/,
      make: () => {
        repository.tamper = (path, content) =>
          path.endsWith('.deb') ? Buffer.from(content).fill('x', 1000, 1100) : content;
      },
    },
    {
      fault: 'it is not signed',
      code: 4,
      says: /cause: the repository is not there, or not signed/,
      make: () => {
        repository.tamper = (path, content) => (isSigned(path) ? 'missing' : content);
      },
    },
    {
      fault: 'it is older than it says that it may be',
      code: 4,
      says: /cause: the repository's lists have expired/,
      make: () => {
        repository.tamper = (path, content) =>
          path.endsWith('/InRelease')
            ? gpg(
                lab.paths.gnupg,
                ['--local-user', (ours() as unknown as { fingerprint: string }).fingerprint, '--clearsign'],
                Buffer.from(`${signedText(content)}Valid-Until: Wed, 01 Jan 2020 00:00:00 UTC\n`),
              )
            : content;
      },
    },
    {
      fault: 'a second key stands behind the pinned one',
      code: 6,
      says: /cannot get the signing key of containerd: .* is the key [0-9A-F]{40}, [0-9A-F]{40}, and the inventory pins/,
      make: () => {
        repository.tamper = (path, content) =>
          path.endsWith('/gpg') ? Buffer.concat([content, gpg(keys, ['--armor', '--export', OLD])]) : content;
      },
    },
    {
      fault: 'its key has expired',
      code: 7,
      says: /the repository's signing key [0-9A-F]{40} ran out on 2020-01-02/,
      make: () => {
        repository.tamper = (path, content) => {
          if (path.endsWith('/gpg')) return gpg(keys, ['--export', OLD]);
          if (!path.endsWith('/InRelease')) return content;
          const then = ['--faked-system-time', '20200101T120000!', '--local-user', OLD, '--clearsign'];
          return gpg(keys, then, Buffer.from(signedText(content)));
        };
        write({ ...ours(), fingerprint });
      },
    },
  ];
  write(ours());
  for (const { fault, code, says, make } of cases) {
    await make();
    // Lists that were verified once are good as long as they lie there.
    await inside('rm -rf /var/lib/apt/lists/10.77.0.1*');
    const ran = await up();
    console.log(`${fault}: exit ${String(ran.code)} after ${ran.seconds.toFixed(1)} s`);
    expect(ran.stderr, fault).toMatch(says);
    expect(ran.code, fault).toBe(code);
    expect(await inside('dpkg-query -W containerd.io 2>/dev/null || :'), fault).toBe('');
    expect(await inside('dpkg --audit'), fault).toBe('');
  }
  repository.tamper = (_, content) => content;
  write(ours());
});

/** Holds dpkg's lock as dpkg does: by fcntl, which flock(1) cannot see. */
const HOLD = `use Fcntl; open(my $f, ">>", "/var/lib/dpkg/lock-frontend"); my $l = pack("s s x4 q q i x4", F_WRLCK, 0, 0, 0, 0); fcntl($f, F_SETLK, $l) or die $!; sleep 600`;

test('a cloud that is still at work, a lock and an interrupted installation: waited for and mended, by the same command', async () => {
  await lab.inside(HOST, 'cat >/root/hold.pl', HOLD);
  await inside(
    `cd /tmp && apt-get -q update -o Dir::Etc::sourcelist=/etc/apt/sources.list.d/lab-debian.list -o Dir::Etc::sourceparts=-; apt-get -q download conntrack && dpkg --unpack conntrack_*.deb; rm conntrack_*.deb
     printf '#!/bin/sh\\nuntil [ -e /run/cloud-is-done ]; do sleep 0.1; done\\n' >/usr/local/sbin/cloud-init
     chmod 755 /usr/local/sbin/cloud-init; mkdir -p /run/cloud-init; echo '{}' >/run/cloud-init/status.json
     systemd-run --quiet --unit=holder perl /root/hold.pl`,
  );
  expect(await inside('dpkg --audit')).toContain('conntrack');
  const running = start(UP());
  await waitUntil('the run has begun', PATIENCE_MS, async () => (await inside('cat /run/kbuild/lock || :')) !== '');
  expect(await inside('ls /run/kbuild/jobs 2>/dev/null || :')).toBe('');
  await inside(`echo '{"v1": {"errors": []}}' >/run/cloud-init/result.json`);
  await waitUntil(
    'the job waits for cloud-init',
    PATIENCE_MS,
    async () => (await inside('pgrep -f "cloud-init status" || :')) !== '',
  );
  await inside('touch /run/cloud-is-done');
  await waitUntil('the holder is named', PATIENCE_MS, () =>
    Promise.resolve(/waiting: \/var\/lib\/dpkg\/lock-frontend is held by process \d+ \(perl\)/.test(running.said())),
  );
  expect(await inside('dpkg --audit')).toContain('conntrack');
  await inside('systemctl stop holder');
  const ran = await running.ended;
  expect(ran.code, ran.stderr).toBe(0);
  expect(ran.stderr).toContain('wait for cloud-init, which still sets the host up');
  expect(ran.stderr).toContain('finish an interrupted installation');
  expect(await inside('dpkg --audit')).toBe('');
  expect(await inside("dpkg-query -W -f '${Status}' containerd.io")).toBe('hold ok installed');
  unchanged(await up());
});

test('a key that runs out in ten days is warned of, and fetched again where the vendor has extended it', async () => {
  const keyring = '/etc/apt/keyrings/kbuild-containerd.asc';
  const { fingerprint } = ours() as unknown as { readonly fingerprint: string };
  const home = mkdtempSync(join(tmpdir(), 'kbuild-gpg-'));
  try {
    const unlocked = ['--pinentry-mode', 'loopback', '--passphrase', ''];
    gpg(home, ['--import'], gpg(lab.paths.gnupg, [...unlocked, '--export-secret-keys', fingerprint]));
    gpg(home, [...unlocked, '--quick-set-expire', fingerprint, '10d']);
    await lab.inside(HOST, `cat >${keyring}`, gpg(home, ['--armor', '--export', fingerprint]).toString());
  } finally {
    execFileSync('gpgconf', ['--homedir', home, '--kill', 'all']);
    rmSync(home, { recursive: true });
  }
  const check = ['check', file];
  // Written a moment ago: the vendor was asked today.
  unchanged(await up());
  expect((await kbuild(...check)).stdout).toMatch(/the signing key [0-9A-F]{40} in \S+ runs out on \d{4}-\d\d-\d\d/);
  await inside(`touch -d '2 days ago' ${keyring}`);
  const ran = await up();
  expect(ran.code, ran.stderr).toBe(0);
  expect(ran.stderr).toContain(`fetch ${keyring} again (its key runs out on `);
  expect((await kbuild(...check)).stdout).not.toContain('the signing key');
  unchanged(await up());
});
