import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { Refused } from '../../../src/errors.ts';
import { apt } from '../../../src/host/packages/debian-family.value.ts';
import {
  distributionOf,
  knownDistribution,
  onHost,
  placedRepository,
  supportedDistribution,
} from '../../../src/host/packages/distributions.value.ts';
import { dnf, dnf5 } from '../../../src/host/packages/dnf.value.ts';
import { systemRuntime } from '../../../src/host/packages/installer.value.ts';
import type { PackageRequest } from '../../../src/host/packages/package-manager.value.ts';
import { rhelAndRebuilds } from '../../../src/host/packages/rhel-family.value.ts';
import { probe } from '../../../src/shell/probe.ts';
import { sh } from '../../../src/shell/sh.ts';
import { inventory, linuxHost } from '../../fakes/inventory.ts';

const rhel = rhelAndRebuilds[0]!;

const asked = { middleMs: 0 };

const release = (id: string, versionId: string, idLike: readonly string[] = []) => ({
  osRelease: { id, idLike, versionId, codename: '', prettyName: `${id} ${versionId}` },
});

describe('a distribution', () => {
  test.each([
    ['debian', '12', 'Debian'],
    ['debian', '13', 'Debian'],
    ['ubuntu', '22.04', 'Ubuntu'],
    ['ubuntu', '24.04', 'Ubuntu'],
    ['ubuntu', '26.04', 'Ubuntu'],
    ['debian', '11', undefined],
    ['ubuntu', '23.10', undefined],
    ['rhel', '9.6', 'Red Hat Enterprise Linux'],
    ['rhel', '10.0', 'Red Hat Enterprise Linux'],
    ['rocky', '9.4', 'Rocky Linux'],
    ['almalinux', '10.1', 'AlmaLinux'],
    ['ol', '9.1', 'Oracle Linux'],
    // Stream has no minor.
    ['centos', '10', 'CentOS Stream'],
    ['centos', '8', undefined],
    ['rhel', '8.10', undefined],
    ['fedora', '43', 'Fedora'],
    ['fedora', '44', 'Fedora'],
    ['fedora', '42', undefined],
    ['amzn', '2023', 'Amazon Linux'],
    ['amzn', '2', undefined],
    ['opensuse-leap', '15.6', undefined],
    ['opensuse-leap', '16.0', 'openSUSE Leap'],
    ['opensuse-tumbleweed', '20261120', 'openSUSE Tumbleweed'],
    ['sles', '15.7', 'SUSE Linux Enterprise Server'],
    ['sles', '16.0', 'SUSE Linux Enterprise Server'],
    ['sles', '15.6', undefined],
    ['sl-micro', '6.1', undefined],
    ['opensuse-microos', '20261120', undefined],
  ])('%s %s is supported as %s', (id, version, name) =>
    expect(supportedDistribution(release(id, version))?.name).toBe(name),
  );

  test('that is not supported is refused by name', () => {
    expect(() => distributionOf({ name: 'w1' }, release('rocky', '8.9'))).toThrow(Refused);
    expect(() => distributionOf({ name: 'w1' }, release('rocky', '8.9'))).toThrow(
      'w1: refused: rocky 8.9 is not yet supported',
    );
  });

  test.each(['rhel', 'rocky', 'almalinux', 'ol', 'centos', 'amzn'])('%s is observed with dnf', (id) =>
    expect(knownDistribution(release(id, '9.6'))?.packages).toBe(dnf),
  );

  test('Fedora is observed with dnf5', () => expect(knownDistribution(release('fedora', '43'))?.packages).toBe(dnf5));

  test.each([
    ['fedora', '43'],
    ['rhel', '10.0'],
  ])('%s %s that was booted from an image is refused with the reason', (id, version) => {
    const { osRelease } = release(id, version);
    const facts = { osRelease: { ...osRelease, isOstree: true as const } };
    expect(supportedDistribution(facts)).toBeUndefined();
    expect(() => distributionOf({ name: 'w1' }, facts)).toThrow('it was booted from an image (ostree)');
  });

  test('Amazon Linux gets containerd from its own repositories: Docker has none for it', () => {
    const facts = release('amzn', '2023', ['fedora']);
    expect(systemRuntime({ host: linuxHost('w1'), facts }, ['containerd'])).toEqual(['containerd', 'runc']);
    expect(systemRuntime({ host: linuxHost('w1'), facts: release('fedora', '43') }, ['containerd'])).toBeUndefined();
  });

  test('that is derived from a known one is observed with its package manager, and not supported', () => {
    const mint = release('linuxmint', '22.04', ['ubuntu', 'debian']);
    expect(knownDistribution(mint)?.id).toBe('ubuntu');
    expect(supportedDistribution(mint)).toBeUndefined();
  });
});

describe('a probe for a host of unknown distribution', () => {
  const names = onHost(({ family }) => probe(sh`echo ${family}-answer`, (out) => out.trim()), 'no family');
  const folder = mkdtempSync(join(tmpdir(), 'kbuild-os-release-'));
  afterAll(() => rmSync(folder, { recursive: true }));
  const answer = (osRelease: string): string => {
    const file = join(folder, 'os-release');
    writeFileSync(file, osRelease);
    const script = names.command.script.replace('/etc/os-release', file);
    return names.parse(execFileSync('sh', ['-euc', script], { encoding: 'utf8', stdio: 'pipe' }), asked);
  };

  test.each([
    ['ID=debian\n', 'debian-answer'],
    ['ID=ubuntu\nID_LIKE=debian\n', 'debian-answer'],
    ['ID="rocky"\nID_LIKE="rhel centos fedora"\n', 'rhel-answer'],
    ['ID="amzn"\nID_LIKE="fedora"\n', 'rhel-answer'],
    ['ID=fedora\nVERSION_ID=43\n', 'fedora-answer'],
    ['ID="opensuse-leap"\nID_LIKE="suse opensuse"\n', 'suse-answer'],
    ['ID=arch\n', 'no family'],
    ['ID=linuxmint\nID_LIKE="ubuntu debian"\n', 'debian-answer'],
    ['', 'no family'],
  ])('runs the script for %j', (osRelease, expected) => expect(answer(osRelease)).toBe(expected));

  test('fails on an os-release that cannot be read: nothing is installed would be a guess', () => {
    expect(() => answer('ID="debian\n')).toThrow();
    const script = names.command.script.replace('/etc/os-release', join(folder, 'none'));
    expect(() => execFileSync('sh', ['-euc', script], { stdio: 'pipe' })).toThrow();
  });

  test('throws on the output of a family that it does not know', () =>
    expect(() => names.parse('plan9\nx\n', asked)).toThrow('unexpected output: plan9'));
});

const request: PackageRequest = {
  packages: { kubelet: '1.36.3', 'kubernetes-cni': 'any' },
  optional: ['cri-tools'],
  hold: ['kubelet'],
  sources: ['kubernetes'],
  proxy: { https: 'http://proxy:3128', noProxy: ['10.0.0.0/8'] },
};

describe('apt', () => {
  test('reads a removed package as absent, and an interrupted one as half installed', () => {
    const states = apt
      .installed([])
      .parse(
        'a 1 deinstall ok config-files\nb 2 install ok half-configured\nc 3 hold ok installed\nd  unknown ok not-installed\n',
        asked,
      );
    expect([...states]).toEqual([
      ['b', { state: 'half', version: '2', held: false }],
      ['c', { state: 'installed', version: '3', held: true }],
    ]);
  });

  test('reads packages that are neither installed nor removed as broken', () => {
    const out = 'installed ok apt\nconfig-files ok vim\nhalf-configured ok tzdata\nhalf-installed reinstreq kubeadm\n';
    expect(apt.broken.parse(out, asked)).toEqual([
      { name: 'tzdata', state: 'half-configured' },
      { name: 'kubeadm', state: 'reinst-required' },
    ]);
  });

  test.each([
    ['1.36.3-1.1', '1.36.3', true],
    ['5:2.2.9-1~debian.12~bookworm', '2.2.9', true],
    ['1.7.24~ds1-6', '1.7.24', true],
    ['1.36.30-1.1', '1.36.3', false],
    ['1.36.3~rc1-1', '1.36.3', false],
    ['1.36-1', '1.36.3', false],
  ])('takes version %s for %s: %s', (installed, wanted, expected) =>
    expect(apt.isVersion(installed, wanted)).toBe(expected),
  );

  test('gives a package transaction all its parameters', () =>
    expect(apt.install(request).script).toContain(
      [
        "PACKAGES='kubelet 1.36.3",
        "kubernetes-cni any'",
        'OPTIONAL=cri-tools',
        'HOLD=kubelet',
        "UNPACK=''",
        'SOURCES=/etc/apt/sources.list.d/kbuild-kubernetes.list',
      ].join('\n'),
    ));
});

// Output of rpm 4.18.0 and dnf 4.14.0.
describe('dnf', () => {
  test('reads versions without the epoch 0, and the version locks as holds', () => {
    const out = [
      'package kubelet 0:1.35.3-150500.1.1',
      'package docker-ce 3:29.6.1-1.el9',
      'package kubeadm 0:1.35.3-150500.1.1',
      'lock:# Added by hand',
      'lock:kubelet-0:1.35.3-150500.1.1.*',
      'lock:docker-ce-3:29.6.1-1.el9.*',
      'lock:kubeadm-0:1.35.2-150500.1.1.*',
      'lock:!kubeadm-0:1.35.3-150500.1.1.*',
    ];
    expect([...dnf.installed([]).parse(`${out.join('\n')}\n`, asked)]).toEqual([
      ['kubelet', { state: 'installed', version: '1.35.3-150500.1.1', held: true }],
      ['docker-ce', { state: 'installed', version: '3:29.6.1-1.el9', held: true }],
      ['kubeadm', { state: 'installed', version: '1.35.3-150500.1.1', held: false }],
    ]);
  });

  test('reads a package with two installed versions as broken', () =>
    expect(dnf.broken.parse('kubelet.x86_64\n', asked)).toEqual([
      { name: 'kubelet.x86_64', state: 'installed twice' },
    ]));

  test('reads the holder of a lock', () =>
    expect(dnf.locks.parse('/var/lib/dnf/rpmdb_lock.pid 812 dnf\n', asked)).toEqual([
      { file: '/var/lib/dnf/rpmdb_lock.pid', pid: 812, process: 'dnf' },
    ]));

  test.each([
    ['1.36.1-150500.1.1', '1.36.1', true],
    ['3:29.6.1-1.el9', '29.6.1', true],
    ['1.36.10-150500.1.1', '1.36.1', false],
    ['1.36.1~rc1-150500.1.1', '1.36.1', false],
  ])('takes version %s for %s: %s', (installed, wanted, expected) =>
    expect(dnf.isVersion(installed, wanted)).toBe(expected),
  );

  test('passes the proxy and the limits of dnf to every change of a transaction, also to version locks', () => {
    const { script } = dnf.install(request);
    expect(script).toContain('PROXY=http://proxy:3128');
    expect(script.match(/^.*patiently dnf .*$/m)).toBeNull();
  });

  test('writes a repository of Kubernetes that is flat, with the key of kbuild and no proxy', async () => {
    const repository = { url: 'https://pkgs.k8s.io/core:/stable:/v1.36/rpm' };
    const text = dnf.repository('kubernetes', repository, { proxy: undefined, direct: [] });
    await expect(text).toMatchFileSnapshot('../../golden/rhel/kbuild-kubernetes.repo');
  });

  test("writes Docker's repository by the major version, through the proxy", async () => {
    const { runtime } = inventory();
    const placed = placedRepository(dnf.pick(runtime.repository), rhel, release('rocky', '9.6'));
    const text = dnf.repository('containerd', placed, { proxy: request.proxy, direct: [] });
    await expect(text).toMatchFileSnapshot('../../golden/rhel/kbuild-containerd.repo');
    expect(dnf.repository('containerd', placed, { proxy: request.proxy, direct: ['download.docker.com'] })).toContain(
      'proxy=_none_',
    );
  });

  test('finds the metadata of a repository', () =>
    expect(dnf.lists({ url: 'https://pkgs.k8s.io/core:/stable:/v1.36/rpm/' }, 'x86_64')).toEqual({
      index: ['https://pkgs.k8s.io/core:/stable:/v1.36/rpm/repodata/repomd.xml'],
    }));

  test.each(['x86_64', 'aarch64'])('finds the metadata for a machine that is %s', (machine) =>
    expect(dnf.lists({ url: 'https://example.com/rhel', suite: '9' }, machine)).toEqual({
      index: [`https://example.com/rhel/9/${machine}/stable/repodata/repomd.xml`],
    }),
  );
});

test('a host of the family of RHEL wants a reboot for the components that needs-restarting names', () => {
  expect(rhel.pendingReboot.parse('', asked)).toBe('none');
  expect(rhel.pendingReboot.parse('pending\nkernel\nsystemd\n', asked)).toEqual(['kernel', 'systemd']);
});
