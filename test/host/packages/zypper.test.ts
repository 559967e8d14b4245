// @module-tag linux
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import {
  distributionOf,
  everyRepositoryFiles,
  knownDistribution,
} from '../../../src/host/packages/distributions.value.ts';
import { getsBinaries, systemRuntime } from '../../../src/host/packages/installer.value.ts';
import type { PackageRequest } from '../../../src/host/packages/package-manager.value.ts';
import { suseSystems, zypper } from '../../../src/host/packages/suse-family.value.ts';
import { linuxHost } from '../../fakes/inventory.ts';

const asked = { middleMs: 0 };
const leap = suseSystems[0]!;

const release = (id: string, versionId: string, prettyName = `${id} ${versionId}`) => ({
  osRelease: { id, idLike: [], versionId, codename: '', prettyName },
});

// Output of rpm 4.18.0 and zypper 1.14.42.
describe('zypper', () => {
  /** /etc/zypp/locks begins with a blank line, and two stand between its locks. */
  const lockFile = (...locks: readonly string[]): string =>
    locks
      .map((lock) => `\n${lock}\n\n`)
      .join('')
      .replaceAll(/^/gm, 'lock:');
  const whole = (name: string): string => `type: package\nmatch_type: glob\ncase_sensitive: on\nsolvable_name: ${name}`;
  const installed = (out: string) => [...zypper.installed([]).parse(out, asked)];

  test('reads versions without the epoch 0, and the locks as holds', () => {
    const packages = 'package kubelet 0:1.35.3-150500.1.1\npackage docker-ce 3:29.6.1-1.el9\n';
    expect(installed(packages + lockFile(whole('kubeadm'), whole('kubelet')))).toEqual([
      ['kubelet', { state: 'installed', version: '1.35.3-150500.1.1', held: true }],
      ['docker-ce', { state: 'installed', version: '3:29.6.1-1.el9', held: false }],
    ]);
  });

  test('takes no lock of some versions, of a pattern or of a repository for a hold', () => {
    const packages = 'package kubelet 0:1.35.3-150500.1.1\n';
    for (const lock of [
      `${whole('kubelet')}\nversion: > 1.36`,
      `${whole('kubelet')}\nrepo: kbuild-kubernetes`,
      whole('kube*'),
      whole('kubelet').replace('package', 'patch'),
    ])
      expect(installed(packages + lockFile(lock))).toMatchObject([['kubelet', { held: false }]]);
    expect(installed(packages)).toMatchObject([['kubelet', { held: false }]]);
  });

  test('reads a package with two installed versions as broken', () =>
    expect(zypper.broken.parse('kubelet.x86_64\n', asked)).toEqual([
      { name: 'kubelet.x86_64', state: 'installed twice' },
    ]));

  test('reads the holder of the lock', () =>
    expect(zypper.locks.parse('/run/zypp.pid 9753 zypper\n', asked)).toEqual([
      { file: '/run/zypp.pid', pid: 9753, process: 'zypper' },
    ]));

  test("writes Kubernetes' repository with the key of kbuild: zypper refreshes it only where kbuild asks", async () => {
    const repository = { url: 'https://pkgs.k8s.io/core:/stable:/v1.36/rpm' };
    const proxy = { https: 'http://proxy:3128', noProxy: [] };
    const text = zypper.repository('kubernetes', repository, { proxy, direct: [] });
    await expect(text).toMatchFileSnapshot('../../golden/suse/kbuild-kubernetes.repo');
    expect(zypper.repository('kubernetes', repository, { proxy, direct: ['pkgs.k8s.io'] })).toContain('proxy=_none_');
  });

  test('gives a package transaction its proxies, and what must be reached without them', () => {
    const request: PackageRequest = {
      ...{ packages: { kubelet: '1.36.3' }, optional: ['cri-tools'], hold: ['kubelet'], sources: ['kubernetes'] },
      proxy: { https: 'http://proxy:3128', noProxy: ['10.0.0.0/8', '.lan'] },
    };
    expect(zypper.install(request).script).toContain(
      [
        "HTTP_PROXY_URL=''",
        'HTTPS_PROXY_URL=http://proxy:3128',
        'NO_PROXY_HOSTS=10.0.0.0/8,.lan',
        'KEYS=/var/lib/kbuild/imported-keys',
      ].join('\n'),
    );
  });
});

describe('the script that runs zypper', () => {
  const folder = mkdtempSync(join(tmpdir(), 'kbuild-zypper-'));
  afterAll(() => rmSync(folder, { recursive: true }));
  const script = zypper.install({ packages: {}, optional: [], hold: [], sources: [], proxy: undefined }).script;
  const functions = script.slice(0, script.indexOf('wait_for_cloud_init\nimport_keys'));
  /** Runs lines after the script's functions; `zypper` prints a text and ends with a status. */
  const run = (answer: string, status: number, lines: string): string => {
    writeFileSync(join(folder, 'answer'), answer);
    const fake = `zypper() { cat ${folder}/answer; return ${String(status)}; }\nrpm() { return 1; }\n`;
    return execFileSync('sh', ['-euc', `cd ${folder}\n${functions}${fake}${lines}`], {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'pipe'],
    });
  };

  test.each([
    [0, 0],
    [4, 4],
    [7, 7],
    [8, 8],
    [102, 0],
    [103, 0],
    [104, 104],
    [106, 0],
    [107, 0],
  ])('takes status %i for %i', (status, expected) =>
    expect(run('', status, 'run_zypper x >/dev/null || echo "failed $?"')).toBe(
      expected === 0 ? '' : `failed ${String(expected)}\n`,
    ),
  );

  test('waits for another zypper, and says who it is', () => {
    const waits = `holders() { echo "/run/zypp.pid is held by process 7 (zypper)"; }
      zypper() { if [ -e tried ]; then return 0; fi; : >tried; return 7; }
      sleep() { :; }
      patiently run_zypper install x`;
    expect(run('', 0, waits)).toBe('waiting: /run/zypp.pid is held by process 7 (zypper)\n');
  });

  const answer = `<?xml version='1.0'?>
<stream>
<search-result version="0.0">
<solvable-list>
<solvable status="other-version" name="kubelet" kind="package" edition="1.36.2-150500.1.1" arch="x86_64" repository="kbuild-kubernetes"/>
<solvable status="installed" name="kubelet" kind="package" edition="1.36.1-150500.1.1" arch="x86_64" repository="kbuild-kubernetes"/>
<solvable status="not-installed" name="docker-ce" kind="package" edition="3:29.6.1-1.el9" arch="x86_64" repository="docker"/>
<solvable status="not-installed" name="socat" kind="package" edition="1.8.0-1.1" arch="x86_64" repository="repo-oss"/>
</solvable-list>
</search-result>
</stream>
`;
  const select = (packages: string, optional = ''): string =>
    run(
      answer,
      0,
      `PACKAGES='${packages}' OPTIONAL='${optional}'
       if select_versions; then tr '\\n' ' ' <"$work/wanted"; else explain 2>&1; fi`,
    );

  test('asks for an exact version with its epoch and release: without the epoch zypper finds nothing', () => {
    expect(select('kubelet 1.36.1\ndocker-ce 29.6.1')).toBe('kubelet=1.36.1-150500.1.1 docker-ce=3:29.6.1-1.el9 ');
  });
  test('takes along what some repository has, and leaves out the rest', () =>
    expect(select('kubelet 1.36.2', 'socat\ncri-tools')).toBe('kubelet=1.36.2-150500.1.1 socat '));
  test.each([
    ['kubelet 1.36', 'kubelet 1.36 is in no repository of this host; there is: 1.36.1-150500.1.1 1.36.2-150500.1.1 '],
    ['containerd any', 'containerd any is in no repository of this host; there is: '],
  ])('says what there is instead of %s', (packages, expected) => expect(select(packages).trim()).toBe(expected.trim()));

  test('says at the end why a repository is not trusted, so that the fault is not taken for a missing package', () => {
    const said = `Retrieving repository 'k' metadata [.
    Warning: This file was modified after it has been signed. This may have been a malicious change,
    so it might not be trustworthy anymore!
error]
`;
    const lines = `PACKAGES='kubelet 1.36.3' OPTIONAL= : >"$work/offers"
      echo 'kubelet 1.36.3' >"$work/missing"
      update_all >/dev/null 2>&1; explain 2>&1 | tail -n 1`;
    expect(run(said, 4, lines)).toMatch(/^This file was modified after it has been signed\./);
    expect(run('', 0, lines)).toMatch(/^kubelet 1\.36\.3 is in no repository/);
  });

  test('notices that zypper ends with 0 and has installed nothing', () => {
    const lines = `rpm() { printf 1.36.1; }
      PACKAGES='kubelet 1.35.3'
      verify_installed 2>&1 || echo "failed $?"`;
    expect(run('', 0, lines)).toBe(
      'zypper ended without an error, and did not install kubelet 1.35.3 (found 1.36.1)\nfailed 1\n',
    );
  });

  test('takes only keys out of rpm that it has put there: without one, rpm says so in words', () => {
    const lines = `rpm() { case $1 in -q) echo 'package gpg-pubkey is not installed'; return 1 ;; esac; }
      SOURCES= KEYS=${folder}/keys
      import_keys; cat ${folder}/keys 2>/dev/null || :`;
    expect(run('', 0, lines)).toBe('');
  });

  test('leaves two versions of kernels, keys and modules of kernels as they are', () => {
    const lines = `rpm() { case $* in
        '-q --provides drbd-kmp.x86_64') echo 'multiversion(kernel)' ;;
        '-q --provides'*) echo 'kubelet = 1.36.2' ;;
        -qa*) printf '%s\\n' kubelet.x86_64 kernel-default.x86_64 kernel-default.x86_64 drbd-kmp.x86_64 drbd-kmp.x86_64 \\
          gpg-pubkey.noarch gpg-pubkey.noarch kubelet.x86_64 bash.x86_64 ;;
      esac; }
      installed_twice`;
    expect(run('', 0, lines)).toBe('kubelet.x86_64\n');
  });

  test('names the repositories of the system that are enabled, and not those of kbuild', () => {
    const repositories = zypper.systemRepositories!;
    const at = join(folder, 'a.repo');
    const enabled = (content: string) => {
      writeFileSync(at, content);
      const text = repositories.command.script.replace(/FILES=.*\n.*\n/, `FILES=${at}\n`);
      return repositories.parse(execFileSync('sh', ['-euc', text], { encoding: 'utf8' }), asked);
    };
    expect(enabled('[repo-oss]\nname=x\nenabled=1\n[repo-debug]\nenabled = 0\n[repo-update]\nbaseurl=x\n')).toEqual([
      'repo-oss',
      'repo-update',
    ]);
    expect(enabled('# by hand\n[kbuild-kubernetes]\nenabled=1\n')).toEqual([]);
  });
});

describe('SUSE', () => {
  const host = linuxHost('w1');

  test('has a reboot pending if zypper says so, for packages that it does not name', () => {
    expect(leap.pendingReboot.parse('', asked)).toBe('none');
    expect(leap.pendingReboot.parse('pending\n', asked)).toEqual([]);
  });

  test("gets containerd from the system's own repositories, and CRI-O from its project's", () => {
    const facts = release('opensuse-leap', '16.0');
    expect(systemRuntime({ host, facts }, ['containerd'])).toEqual(['containerd', 'containerd-ctr']);
    expect(systemRuntime({ host, facts }, ['crio'])).toBeUndefined();
    expect(systemRuntime({ host, facts: release('debian', '12') }, ['containerd'])).toBeUndefined();
    const binaries = { ...host, installFrom: 'binaries' as const };
    expect(getsBinaries({ host: binaries, facts })).toBe(true);
    expect(systemRuntime({ host: binaries, facts }, ['containerd'])).toBeUndefined();
    const sources = (id: 'crio' | 'containerd') => everyRepositoryFiles(id).map(({ source }) => source);
    expect(sources('crio')).toContain('/etc/zypp/repos.d/kbuild-crio.repo');
    expect(sources('containerd')).not.toContain('/etc/zypp/repos.d/kbuild-containerd.repo');
  });

  test('gets the policy of SELinux from version 16 on, and not with AppArmor', () => {
    const helpers = (id: string, version: string) =>
      knownDistribution(release(id, version))!.helpers(release(id, version).osRelease);
    expect(helpers('sles', '16.0')).toContain('container-selinux');
    expect(helpers('opensuse-tumbleweed', '20261120')).toContain('container-selinux');
    expect(helpers('sles', '15.7')).not.toContain('container-selinux');
  });

  test.each([
    ['opensuse-leap', '15.6', 'openSUSE Leap 15.6', 'it has had no security updates since 2026-04-30'],
    ['sles', '15.6', 'SUSE Linux Enterprise Server 15 SP6', 'it has had no security updates since 2025-12-31'],
    ['opensuse-microos', '20261120', 'openSUSE MicroOS', 'its packages go into a new snapshot of a read-only system'],
  ])('%s %s is refused with the reason', (id, version, prettyName, reason) =>
    expect(() => distributionOf({ name: 'w1' }, release(id, version, prettyName))).toThrow(
      `w1: refused: ${prettyName} is not supported: ${reason}`,
    ),
  );
});
