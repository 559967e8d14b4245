// @module-tag linux
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { placedRepository } from '../../../src/host/packages/distributions.value.ts';
import { dnf5 } from '../../../src/host/packages/dnf.value.ts';
import type { PackageRequest } from '../../../src/host/packages/package-manager.value.ts';
import { fedora } from '../../../src/host/packages/rhel-family.value.ts';
import { inventory } from '../../fakes/inventory.ts';

const asked = { middleMs: 0 };
const folder = mkdtempSync(join(tmpdir(), 'kbuild-dnf5-'));
afterAll(() => rmSync(folder, { recursive: true }));

// Output of dnf5 5.4.6 and rpm 6.1.
describe('dnf5', () => {
  const lockFile = (version: string, ...packages: readonly (readonly [string, string, string])[]): string =>
    [
      `version = "${version}"`,
      ...packages.map(
        ([name, comparator, value]) =>
          `\n[[packages]]\nname = "${name}"\ncomment = "Added by 'versionlock add' command on 2026-11-25 15:52:40"\n\n` +
          `[[packages.conditions]]\nkey = "evr"\ncomparator = "${comparator}"\nvalue = "${value}"`,
      ),
    ]
      .join('\n')
      .replaceAll(/^/gm, 'lock:');
  const installed = (out: string) => [...dnf5.installed([]).parse(out, asked)];
  const packages = 'package kubelet 0:1.36.1-150500.1.1\npackage docker-ce 3:29.6.1-1.fc43\n';

  test('reads the version locks as holds, with an epoch of 0 and without it', () => {
    for (const evr of ['1.36.1-150500.1.1', '0:1.36.1-150500.1.1'])
      expect(
        installed(`${packages}${lockFile('1.0', ['kubelet', '=', evr], ['docker-ce', '=', '3:29.6.1-1.fc43'])}\n`),
      ).toEqual([
        ['kubelet', { state: 'installed', version: '1.36.1-150500.1.1', held: true }],
        ['docker-ce', { state: 'installed', version: '3:29.6.1-1.fc43', held: true }],
      ]);
  });

  test.each([
    ['a lock at another version', lockFile('1.0', ['kubelet', '=', '1.36.2-150500.1.1'])],
    ['an exclude of a version', lockFile('1.0', ['kubelet', '!=', '1.36.1-150500.1.1'])],
    ['a range', lockFile('1.0', ['kubelet', '<', '1.37'])],
    ['a file of a version that dnf5 ignores', lockFile('2.0', ['kubelet', '=', '1.36.1-150500.1.1'])],
    ['the file after the last lock is gone', 'lock:packages = []\nlock:version = "1.0"'],
    ['no file', ''],
  ])('takes %s for no hold', (_, locks) =>
    expect(installed(`${packages}${locks}\n`)).toMatchObject([
      ['kubelet', { held: false }],
      ['docker-ce', { held: false }],
    ]),
  );

  test('throws on a file of locks that is no TOML: whether a package is held is unknown then', () =>
    expect(() => installed(`${packages}lock:[[packages`)).toThrow());

  test('reads the holder of a lock', () =>
    expect(dnf5.locks.parse('/var/lib/dnf/system-repo.lock 812 dnf5\n', asked)).toEqual([
      { file: '/var/lib/dnf/system-repo.lock', pid: 812, process: 'dnf5' },
    ]));

  test('writes the repository of Docker for the version of Fedora', async () => {
    const facts = { osRelease: { id: 'fedora', idLike: [], versionId: '43', codename: '', prettyName: 'Fedora 43' } };
    const placed = placedRepository(dnf5.pick(inventory().runtime.repository), fedora, facts);
    const text = dnf5.repository('containerd', placed, { proxy: undefined, direct: [] });
    await expect(text).toMatchFileSnapshot('../../golden/rhel/kbuild-containerd-fedora.repo');
  });
});

describe('the script that runs dnf5', () => {
  const request: PackageRequest = { packages: {}, optional: [], hold: [], sources: [], proxy: undefined };
  const { script } = dnf5.install(request);
  const functions = script.slice(0, script.indexOf('wait_for_cloud_init\nimport_keys'));
  /** Runs lines after the script's functions, with these two repositories of kbuild. */
  const run = (lines: string): string => {
    for (const name of ['kubernetes', 'containerd'])
      writeFileSync(join(folder, `${name}.repo`), `[kbuild-${name}]\nexclude=kubelet\n`);
    const sources = `SOURCES='${folder}/kubernetes.repo ${folder}/containerd.repo'\n`;
    return execFileSync('sh', ['-euc', `cd ${folder}\n${functions}${sources}${lines}`], {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'pipe'],
    });
  };

  test('lets only this transaction see what kbuild excludes: dnf5 has no --disableexcludes', () =>
    expect(run('dnf5() { echo "$*"; }; PROXY=http://proxy:3128; run_dnf install kubelet-1.36.1')).toBe(
      '-y --setopt=disable_excludes=kbuild-kubernetes,kbuild-containerd --setopt=install_weak_deps=False ' +
        '--setopt=retries=3 --setopt=proxy=http://proxy:3128 install kubelet-1.36.1\n',
    ));

  test('waits for another transaction, which dnf5 does not do', () => {
    const lines = `holders() { [ -e tried ] || echo '/run/dnf/rpmtransaction.lock is held by process 7 (dnf5)'; }
      dnf5() { echo installed; }
      sleep() { : >tried; }
      patiently run_dnf install x`;
    expect(run(lines)).toBe('waiting: /run/dnf/rpmtransaction.lock is held by process 7 (dnf5)\ninstalled\n');
  });

  test('waits for a transaction that began after kbuild had seen no lock', () => {
    const lines = `holders() { :; }
      dnf5() { if [ -e began ]; then return 0; fi; : >began
        echo 'Transaction failed: Failed to obtain rpm transaction lock. Another transaction is in progress.' >&2; return 1; }
      sleep() { :; }
      patiently run_dnf install x && echo done`;
    expect(run(lines)).toBe('done\n');
  });

  test.each([
    ['1.36.1-150500.1.1', 'locked'],
    ['0:1.36.1-150500.1.1', 'locked'],
    ['1.36.2-150500.1.1', 'not locked'],
  ])('reads the lock back: %s is %s', (evr, expected) => {
    const lines = `rpm() { echo 0:1.36.1-150500.1.1; }
      dnf5() { printf '%s\\n' "# Added by 'versionlock add' command" 'Package name: kubeadm' 'evr = 1.36.1-150500.1.1' '' \\
        'Package name: kubelet' 'evr = ${evr}'; }
      if is_at_lock kubelet; then echo locked; else echo not locked; fi`;
    expect(run(lines)).toBe(`${expected}\n`);
  });

  test('says what there is instead of a version that no repository has', () => {
    const lines = `dnf5() { case $* in *--qf*) printf '1.36.10\\n1.36.2\\n1.36.2\\n' ;; esac; }
      PACKAGES='kubelet 1.36.9' OPTIONAL=
      select_versions || explain 2>&1`;
    expect(run(lines)).toBe('kubelet 1.36.9 is in no repository of this host; there is: 1.36.2 1.36.10 \n');
  });
});

describe('a reboot on Fedora', () => {
  const answer = (output: string, status: number): string => {
    const fake = `dnf5() { printf '%s\\n' '${output}'; return ${String(status)}; }\n`;
    return execFileSync('sh', ['-euc', `${fake}${fedora.pendingReboot.command.script}`], {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'pipe'],
    });
  };

  test('is pending for the packages that dnf5 names', () => {
    const said =
      'Core libraries or services have been updated since boot-up:\n  * kernel-core\n  * systemd\n\nReboot is required to fully utilize these updates.';
    const out = answer(said, 1);
    expect(fedora.pendingReboot.parse(out, asked)).toEqual(['kernel-core', 'systemd']);
  });
  test('is not pending when dnf5 says so', () => {
    const said = 'No core libraries or services have been updated since boot-up.\nReboot should not be necessary.';
    expect(fedora.pendingReboot.parse(answer(said, 0), asked)).toBe('none');
  });
  test.each([
    ['Unknown argument "needs-restarting" for command "dnf5".', 2],
    ['Failed to load the list of packages', 1],
  ])('is unknown when dnf5 says %j', (said, status) => expect(() => answer(said, status)).toThrow());
});
