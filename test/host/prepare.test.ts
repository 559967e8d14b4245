import { describe, expect, test } from 'vitest';
import type { Target } from '../../src/engine/step.ts';
import { prepare } from '../../src/host/prepare.phases.ts';
import { Secret } from '../../src/shell/secret.ts';
import { converged } from '../fakes/converged.ts';
import type { FactOverrides } from '../fakes/facts.ts';
import { hosts, inventory, linuxHost } from '../fakes/inventory.ts';
import { recordingOn } from '../fakes/on.ts';
import { target } from '../fakes/target.ts';

const summaries = (seen: Target) => prepare.flatMap((step) => step.diff(seen)).map(({ summary }) => summary);
const of = (step: string, overrides: FactOverrides, about: Parameters<typeof target>[1] = {}) =>
  prepare
    .find(({ name }) => name === step)!
    .diff(target(overrides, about))
    .map(({ summary }) => summary);

test('a fresh host needs modules, sysctls and, for repositories over HTTPS, certificates', () =>
  expect(summaries(target({ packages: new Map() }))).toEqual([
    'write /etc/modules-load.d/kbuild.conf (found none)',
    'load overlay (found not loaded)',
    'load br_netfilter (found not loaded)',
    'write /etc/sysctl.d/99-zz-kbuild.conf (found none)',
    'set net.bridge.bridge-nf-call-iptables=1 (found absent), net.bridge.bridge-nf-call-ip6tables=1 (found absent), net.ipv4.ip_forward=1 (found 0)',
    'install ca-certificates (found none)',
  ]));

test.each(['control-plane', 'worker'] as const)('a converged %s needs nothing', async (role) =>
  expect(summaries(await converged(role))).toEqual([]),
);

describe('swap', () => {
  test('is taken away now and for the next boot', () =>
    expect(
      of('swap-off', {
        swaps: ['/dev/sda2', '/dev/zram0'],
        fstabSwaps: ['UUID=1 none swap sw 0 0'],
        swapUnits: [{ name: 'dev-sdb1.swap', file: '/usr/lib/systemd/system/dev-sdb1.swap' }],
        zram: 'on',
      }),
    ).toEqual([
      'switch zram swap off (found a zram-generator configuration)',
      'mask dev-sdb1.swap (found not masked)',
      'comment swap out of /etc/fstab (found UUID=1)',
      'turn swap off (found /dev/sda2, /dev/zram0)',
    ]));
  test("stays on where the kubelet's configuration allows it", () => {
    const tolerant = inventory({
      hosts: [linuxHost('w1', { kubelet: { config: { failSwapOn: false }, extraArgs: [] } })],
    });
    expect(of('swap-off', { swaps: ['/dev/sda2'] }, { inventory: tolerant })).toEqual([]);
  });
});

test('a module that is built in needs no loading, only its line for the next kernel', () =>
  expect(
    of('kernel-modules', { modules: { overlay: 'working', br_netfilter: 'working', nf_conntrack: 'working' } }),
  ).toEqual(['write /etc/modules-load.d/kbuild.conf (found none)']));

test('a module that is not there is said, and nothing is tried', () => {
  const [, change] = prepare
    .find(({ name }) => name === 'kernel-modules')!
    .diff(target({ modules: { overlay: 'working', br_netfilter: 'missing', nf_conntrack: 'working' } }));
  expect(change).toEqual({ summary: 'load br_netfilter (the kernel does not have it)' });
});

test('the hostname is set only where the inventory asks for it', () => {
  const asking = inventory({ hosts: [linuxHost('w1', { setHostname: true })] });
  expect(of('hostname', { hostname: 'localhost' })).toEqual([]);
  expect(of('hostname', { hostname: 'localhost', staticHostname: 'localhost' }, { inventory: asking })).toEqual([
    'set the hostname to w1 (found localhost)',
  ]);
  expect(of('hostname', { staticHostname: '' }, { inventory: asking })).toEqual([
    'set the hostname to w1 (found none in /etc/hostname)',
  ]);
});

test('the name of the endpoint is written where the inventory asks, and taken out when it no longer does', () => {
  const asking = inventory({ endpointInHosts: true });
  expect(of('hosts-file', {}, { inventory: asking })).toEqual([
    'write "10.0.0.11 k8s.example.com" to /etc/hosts (found none)',
  ]);
  expect(of('hosts-file', { hostsBlock: '10.0.0.11 k8s.example.com' }, { inventory: asking })).toEqual([]);
  expect(of('hosts-file', { hostsBlock: '10.0.0.11 old' })).toEqual([
    "take kbuild's lines out of /etc/hosts (found 10.0.0.11 old)",
  ]);
});

describe('a proxy', () => {
  const proxied = inventory({ proxy: { http: 'http://proxy:3128', noProxy: ['10.0.0.0/8', '.docker.com'] } });
  test('is given to apt, except for repositories that are reached without it', async () => {
    const { on, sent } = recordingOn();
    await prepare.find(({ name }) => name === 'apt-proxy')!.diff(target({}, { inventory: proxied }))[0]!.apply!(on);
    expect(sent[0]).toMatchObject({
      path: '/etc/apt/apt.conf.d/95kbuild-proxy',
      content: `# Written by kbuild.
Acquire::http::Proxy "http://proxy:3128";
Acquire::http::Proxy::download.docker.com "DIRECT";
Acquire::https::Proxy::download.docker.com "DIRECT";
`,
    });
  });
  test('is taken back when the inventory has none any more', async () => {
    const before = await converged('worker', { inventory: proxied });
    expect(summaries(before)).toEqual([]);
    expect(summaries({ ...before, inventory: inventory() })).toEqual(['remove /etc/apt/apt.conf.d/95kbuild-proxy']);
  });
});

test('files reach the hosts that the inventory names, and no other', () => {
  const files = [{ hosts: ['cp1'], path: '/etc/kubernetes/audit.yaml', content: Secret.of('x'), mode: 0o600 }];
  const about = { inventory: inventory({ files, hosts }) };
  expect(of('files', {}, about)).toEqual(['write /etc/kubernetes/audit.yaml (found none)']);
  expect(of('files', {}, { ...about, host: 'w1' })).toEqual([]);
});

test('a package transaction that was cut off is finished', () =>
  expect(of('packages-whole', { brokenPackages: [{ name: 'tzdata', state: 'half-configured' }] })).toEqual([
    'finish an interrupted installation (found tzdata half-configured)',
  ]));
