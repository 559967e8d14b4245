import { describe, expect, test } from 'vitest';
import { linuxProbes } from '../../../src/cluster/fleet/linux.ts';
import { nowMs } from '../../../src/host/machine.facts.ts';
import { hostsBlock, staticHostname } from '../../../src/host/names.facts.ts';
import { fstabSwaps, swaps, swapUnits } from '../../../src/host/swap.facts.ts';
import { linuxHosts } from '../../../src/inventory/hosts.ts';
import { containerd } from '../../../src/runtime/containerd.value.ts';
import { factsOf, watched } from '../../fakes/facts.ts';
import { inventory } from '../../fakes/inventory.ts';

const { config: runtimeConfig, cgroupDriverInUse } = containerd.probes;

const asked = { middleMs: 0 };
const inv = inventory();
const host = linuxHosts(inv)[0]!;

describe('a fresh Debian 12', () => {
  const facts = factsOf(inv, host, 'debian-12-fresh');
  test('answers every probe', () => {
    for (const name of Object.keys(linuxProbes(inv, host, watched(inv)(host))))
      expect(() => facts[name as 'arch'], name).not.toThrow();
  });
  test('is what it is', () =>
    expect(facts).toMatchObject({
      osRelease: {
        id: 'debian',
        idLike: [],
        versionId: '12',
        codename: 'bookworm',
        prettyName: 'Debian GNU/Linux 12 (bookworm)',
      },
      arch: 'x86_64',
      clockOffsetMs: 3,
      initSystem: 'systemd',
      cgroupVersion: 2,
      swaps: [],
      swapUnits: [],
      zram: 'absent',
      modules: { overlay: 'loadable', br_netfilter: 'loadable', nf_conntrack: 'working' },
      brokenPackages: [],
      runtimeConfig: 'absent',
      caFingerprint: 'absent',
      marker: 'absent',
      runningJob: 'none',
      kubeletHealthy: false,
      serviceNetwork: 'absent',
      hostsBlock: 'absent',
      productUuid: 'c0a80a15-0000-4000-8000-000000000001',
    }));
  test('has its port of sshd and its interfaces', () => {
    expect(facts.listeners[0]).toEqual({ protocol: 'tcp', port: 22, address: '0.0.0.0', process: 'sshd', pid: 61 });
    expect(facts.interfaces).toContainEqual({
      name: 'eth0',
      addresses: ['10.0.0.21'],
      mac: '02:fc:00:00:00:01',
      mtu: 1500,
    });
  });
  test('has no unit and no package of ours', () => {
    expect(facts.services.get('containerd')).toMatchObject({ load: 'not-found', active: 'inactive', startedMs: 0 });
    expect(facts.packages.get('kubelet')).toBeUndefined();
    expect(facts.files.get('/etc/containerd/config.toml')).toEqual({ kind: 'absent' });
  });
});

describe('a fresh Debian 13', () => {
  const facts = factsOf(inv, host, 'debian-13-fresh');
  test('answers every probe', () => {
    for (const name of Object.keys(linuxProbes(inv, host, watched(inv)(host))))
      expect(() => facts[name as 'arch'], name).not.toThrow();
  });
  test('is what it is', () =>
    expect(facts).toMatchObject({
      osRelease: {
        id: 'debian',
        idLike: [],
        versionId: '13',
        codename: 'trixie',
        prettyName: 'Debian GNU/Linux 13 (trixie)',
      },
      kernel: '6.12.48+deb13-amd64',
      initSystem: 'systemd',
      swaps: [],
      swapUnits: [],
      brokenPackages: [],
      runtimeConfig: 'absent',
      kubeletHealthy: false,
      hostsBlock: 'absent',
    }));
  test("is read from iproute2 6.15's and systemd 257's output", () => {
    expect(facts.listeners[0]).toMatchObject({ protocol: 'tcp', port: 22, address: '0.0.0.0', process: 'sshd' });
    expect(facts.interfaces).toContainEqual({
      name: 'eth0',
      addresses: ['10.0.0.21', 'fe80::fc:ff:fe00:1'],
      mac: '02:fc:00:00:00:01',
      mtu: 1500,
    });
    expect(facts.services.get('kubelet')).toMatchObject({ load: 'not-found', active: 'inactive', startedMs: 0 });
    expect(facts.packages.get('conntrack')).toMatchObject({ state: 'installed', held: false });
  });
});

describe('a prepared Debian 12', () => {
  const facts = factsOf(inv, host, 'debian-12-prepared');
  test('shows what containerd makes of its configuration', () =>
    expect(facts.runtimeConfig).toEqual({
      cgroupDriver: 'systemd',
      sandboxImage: 'registry.k8s.io/pause:3.10.2',
      criDisabled: false,
      labels: false,
      handlers: ['runc'],
    }));
  test('has held packages, key files with their fingerprints, images and running services', () => {
    expect(facts.packages.get('kubelet')).toEqual({ state: 'installed', version: '1.36.3-1.1', held: true });
    expect(facts.keyrings.get('/etc/apt/keyrings/kbuild-kubernetes.asc')).toEqual({
      fingerprints: [expect.stringMatching(/^[0-9A-F]{40}$/)],
      end: 'never',
      writtenMs: 1_795_280_128_000,
    });
    expect(facts.images).toContain('registry.k8s.io/etcd:3.6.8-0');
    expect(facts.services.get('containerd')).toMatchObject({ active: 'active', enabled: 'enabled' });
    expect(facts.services.get('containerd')!.startedMs).toBeGreaterThan(Date.parse('2026-01-01'));
    expect(facts.criSockets).toEqual(['/run/containerd/containerd.sock']);
  });
  test('tells a machine without DMI and with cgroup v1', () =>
    expect(facts).toMatchObject({ productUuid: 'absent', cgroupVersion: 1, modules: { br_netfilter: 'working' } }));
});

describe('swap', () => {
  test('is listed as in /proc/swaps', () =>
    expect(swaps.parse('/dev/dm-1 partition 999420\t0\t-2\n', asked)).toEqual(['/dev/dm-1']));
  test('of fstab leaves comments and other file systems out', () => {
    const fstab =
      '# swap was on /dev/sda5\nUUID=1 / ext4 defaults 0 1\nUUID=2\tnone\tswap\tsw 0 0\n#UUID=3 none swap sw\n';
    expect(fstabSwaps.parse(fstab, asked)).toEqual(['UUID=2\tnone\tswap\tsw 0 0']);
  });
  test("units that come from fstab go with its line; a generator's for a GPT partition does not", () =>
    expect(
      swapUnits.parse(
        `Unit=dev-sda5.swap\nSourcePath=/etc/fstab\nFragmentPath=/run/systemd/generator/dev-sda5.swap
Unit=dev-sdb1.swap\nSourcePath=\nFragmentPath=/run/systemd/generator.late/dev-sdb1.swap
Unit=zramswap.service\nSourcePath=\nFragmentPath=/usr/lib/systemd/system/zramswap.service\n`,
        asked,
      ),
    ).toEqual([
      { name: 'dev-sdb1.swap', file: '/run/systemd/generator.late/dev-sdb1.swap' },
      { name: 'zramswap.service', file: '/usr/lib/systemd/system/zramswap.service' },
    ]));
});

test('a clock whose output is no number is unknown, not a time', () => {
  expect(nowMs.parse('1795598056013482911\n', { middleMs: 0 })).toBe(1_795_598_056_013);
  for (const out of ['', '1795598056%N\n', '1795598056\n', 'never\n'])
    expect(() => nowMs.parse(out, { middleMs: 0 })).toThrow('not a time');
});

test('the name for the next boot leaves comments out', () =>
  expect(staticHostname.parse('# by cloud-init\nw1\n', asked)).toBe('w1'));

test("kbuild's part of /etc/hosts stands between its marks", () => {
  expect(hostsBlock.parse('127.0.0.1 localhost\n# BEGIN kbuild\n10.0.0.1 k8s\n# END kbuild\n', asked)).toBe(
    '10.0.0.1 k8s',
  );
  expect(hostsBlock.parse('127.0.0.1 localhost\n# BEGIN kbuild\n', asked)).toBe('absent');
});

test('a configuration that containerd refuses is invalid, not unknown', () =>
  expect(runtimeConfig.parse('# invalid\n', asked)).toBe('invalid'));

test('a configuration with CRI disabled is seen, in either version of the format', () => {
  const dump = 'version = 2\ndisabled_plugins = ["io.containerd.grpc.v1.cri"]\n';
  expect(runtimeConfig.parse(dump, asked)).toMatchObject({
    cgroupDriver: 'unset',
    sandboxImage: '',
    criDisabled: true,
  });
});

test('the cgroup driver in use shows in the names of the groups', () => {
  const id = 'a'.repeat(64);
  expect(cgroupDriverInUse.parse('', asked)).toBe('none');
  expect(cgroupDriverInUse.parse(`/kubepods.slice/kubepods-pod1.slice/cri-containerd-${id}.scope`, asked)).toBe(
    'systemd',
  );
  expect(cgroupDriverInUse.parse(`/kubepods/burstable/pod1/${id}`, asked)).toBe('cgroupfs');
  expect(cgroupDriverInUse.parse(`/kubepods.slice/kubepods-pod1.slice/${id}`, asked)).toBe('mixed');
});
