import { describe, expect, test } from 'vitest';
import { checks } from '../../src/commands/every.checks.ts';
import { runChecks, stops } from '../../src/engine/check.ts';
import { FactError } from '../../src/errors.ts';
import type { Inventory } from '../../src/inventory/inventory.ts';
import type { FactOverrides } from '../fakes/facts.ts';
import { fleet } from '../fakes/fleet.ts';
import { hosts, inventory, linuxHost } from '../fakes/inventory.ts';

const failing = (name: keyof FactOverrides, others: FactOverrides = {}, host = 'cp1'): FactOverrides =>
  Object.defineProperty({ ...others }, name, {
    enumerable: true,
    get: () => {
      throw new FactError(host, name, 'no answer within 20 s');
    },
  });

const run = (
  facts: Readonly<Record<string, FactOverrides>>,
  about: { readonly inventory?: Inventory; readonly ignored?: readonly string[]; readonly unreachable?: string[] } = {},
) => {
  const inv = about.inventory ?? inventory();
  const seen = fleet({ inventory: inv, facts, unreachable: about.unreachable ?? [] });
  return runChecks(checks, { inventory: inv, fleet: seen }, about.ignored);
};
const lines = (...args: Parameters<typeof run>) =>
  run(...args)
    // Fresh hosts have modules and sysctls to come.
    .filter(({ check, severity }) => !(severity === 'due' && (check === 'kernel-modules' || check === 'sysctls')))
    .map(({ check, severity, host, message }) => `${severity} ${check} ${host ?? ''}: ${message}`);

test('on fresh hosts, what `up` will install is a finding of severity due', () => {
  const findings = run({});
  expect(findings.filter(stops)).toEqual([]);
  expect(findings.map(({ check, host, message }) => `${check} ${host!}: ${message}`).slice(0, 3)).toEqual([
    'kernel-modules cp1: overlay is not loaded',
    'kernel-modules cp1: br_netfilter is not loaded',
    'kernel-modules w1: overlay is not loaded',
  ]);
});

test('all findings are reported at once, errors first', () =>
  expect(
    lines({
      w1: { initSystem: 'openrc', swaps: ['/dev/sda2'] },
      cp1: { osRelease: { id: 'arch', idLike: [], versionId: '', codename: '', prettyName: 'Arch Linux' } },
    }),
  ).toEqual([
    'error os-supported cp1: Arch Linux is not yet supported',
    'error init-system w1: process 1 is openrc, and only systemd is supported',
    'due swap w1: swap is on: /dev/sda2',
  ]));

test('a fact that could not be read is unknown, and the other hosts are checked all the same', () => {
  const findings = run({ cp1: failing('swaps'), w1: { swaps: ['/dev/sda2'] } });
  expect(findings.filter(({ check }) => check === 'swap')).toMatchObject([
    { check: 'swap', severity: 'unknown', host: 'cp1', message: 'could not tell swaps: no answer within 20 s' },
    { check: 'swap', severity: 'due', host: 'w1', message: 'swap is on: /dev/sda2' },
  ]);
  expect(findings.some(stops)).toBe(true);
});

test('an ignored check warns; its findings of severity due stay due', () => {
  const about = { ignored: ['init-system', 'swap'] };
  expect(lines({ w1: { initSystem: 'openrc', swaps: ['/dev/sda2'] } }, about)).toEqual([
    'due swap w1: swap is on: /dev/sda2',
    'warning init-system w1: process 1 is openrc, and only systemd is supported',
  ]);
});

test('ignored findings are marked, so that one line lists them; those that up will mend are not', () => {
  const found = run({ w1: { initSystem: 'openrc', swaps: ['/dev/sda2'] } }, { ignored: ['init-system', 'swap'] });
  const marked = found.filter(({ ignored }) => ignored);
  expect(marked.map(({ check, severity }) => [check, severity])).toEqual([['init-system', 'warning']]);
});

test('a worker that cannot be reached is left out, a control plane is not', () =>
  expect(lines({}, { unreachable: ['cp1', 'w2'] })).toEqual([
    'unknown reachable cp1: no answer',
    'warning reachable w2: no answer',
  ]));

describe('swap', () => {
  test('whose unit cannot be masked is an error', () =>
    expect(
      lines({
        w1: {
          swapUnits: [
            { name: 'my.swap', file: '/etc/systemd/system/my.swap' },
            { name: 'dev-sdb1.swap', file: '' },
          ],
        },
      }),
    ).toEqual([
      'error swap w1: my.swap turns swap on and cannot be masked: its file is /etc/systemd/system/my.swap',
      'due swap w1: swap is on: dev-sdb1.swap',
    ]));
  test("is no finding where the kubelet's configuration allows it", () => {
    const tolerant = [linuxHost('w1', { kubelet: { config: { failSwapOn: false }, extraArgs: [] } })];
    expect(lines({ w1: { swaps: ['/dev/sda2'] } }, { inventory: inventory({ hosts: tolerant }) })).toEqual([]);
  });
});

test('a module that the kernel does not have is an error', () =>
  expect(
    lines({
      w1: { modules: { overlay: 'working', br_netfilter: 'missing', nf_conntrack: 'working' }, kernel: '6.1.0-1' },
    }),
  ).toEqual(['error kernel-modules w1: br_netfilter is neither built into the kernel 6.1.0-1 nor there to be loaded']));

test("a file that is read after kbuild's and switches forwarding off is an error; one before it is not", () =>
  expect(
    lines({
      w1: {
        sysctlSettings: [
          { file: '/etc/sysctl.d/10-router.conf', name: 'net.ipv4.ip_forward', value: '0' },
          { file: '/etc/sysctl.d/99-zzz.conf', name: 'net.ipv4.ip_forward', value: '0' },
          { file: '/etc/sysctl.d/99-zzz.conf', name: 'net.bridge.bridge-nf-call-iptables', value: '1' },
        ],
      },
    }),
  ).toEqual([
    "error sysctls w1: /etc/sysctl.d/99-zzz.conf sets net.ipv4.ip_forward=0 at boot, after kbuild's own file",
  ]));

test('a setting of the bridge is missing only where `up` does not load its module', () => {
  const name = 'net.bridge.bridge-nf-call-arptables';
  const off = { [name]: 'absent', 'net.ipv4.ip_forward': '0' };
  const found = (br_netfilter: 'loadable' | 'working', role: 'worker' | 'load-balancer') =>
    run(
      { w1: { sysctls: off, modules: { overlay: 'working', br_netfilter, nf_conntrack: 'working' } } },
      { inventory: inventory({ hosts: [linuxHost('w1', { role, sysctls: { [name]: '0' } })] }) },
    )
      .filter(({ check }) => check === 'sysctls')
      .filter(({ message }) => message.includes('arptables'))
      .map(({ severity }) => severity);
  expect(found('loadable', 'worker')).toEqual(['due']);
  expect(found('working', 'worker')).toEqual(['warning']);
  expect(found('loadable', 'load-balancer')).toEqual(['warning']);
});

describe('cgroup v1', () => {
  const old = { cp1: { cgroupVersion: 1 }, w1: { cgroupVersion: 1 } } as const;
  const skips = { nodeRegistration: { ignorePreflightErrors: ['SystemVerification'] } };
  test('is an error from Kubernetes 1.35 on, and the remedy names all that is missing', () => {
    const [finding] = run({ w1: { cgroupVersion: 1 } });
    expect(finding).toMatchObject({ check: 'cgroup-version', severity: 'error', host: 'w1' });
    expect(finding!.remedy).toBe(
      'boot with systemd.unified_cgroup_hierarchy=1, or accept the deprecated v1: set kubelet.config.failCgroupV1: false and add SystemVerification to kubeadm.join.nodeRegistration.ignorePreflightErrors',
    );
  });
  test('is fine before', () => {
    const before = inventory({ kubernetes: { version: '1.34.2', minor: '1.34' } });
    expect(lines(old, { inventory: before })).toEqual([]);
  });
  test('is fine where the inventory accepts it', () => {
    const accepting = inventory({
      hosts: hosts.map((host) => ({ ...host, kubelet: { config: { failCgroupV1: false }, extraArgs: [] } })),
      kubeadm: { init: skips, join: skips },
    });
    expect(lines(old, { inventory: accepting })).toEqual([]);
    expect(lines(old, { inventory: { ...accepting, kubeadm: { ...accepting.kubeadm, join: {} } } })).toHaveLength(1);
  });
});

describe('identity', () => {
  test('a product UUID in common names both hosts; a machine without DMI has none', () => {
    expect(lines({ cp1: { productUuid: 'same' }, w1: { productUuid: 'same' } })).toEqual([
      'error product-uuid cp1: has the product UUID same in common with w1',
      'error product-uuid w1: has the product UUID same in common with cp1',
    ]);
    expect(lines({ cp1: { productUuid: 'absent' }, w1: { productUuid: 'absent' } })).toEqual([]);
  });
  test('an unknown product UUID is neither absent nor equal', () =>
    expect(lines({ cp1: failing('productUuid'), w1: { productUuid: 'absent' } })).toEqual([
      'unknown product-uuid cp1: could not tell productUuid: no answer within 20 s',
    ]));
  test('a machine-id in common means a copy', () =>
    expect(lines({ cp1: { machineId: 'same', bootId: '1' }, w1: { machineId: 'same', bootId: '2' } })).toEqual([
      'error unique-host cp1: has the machine-id same in common with w1',
      'error unique-host w1: has the machine-id same in common with cp1',
    ]));
  test('one machine under two names is said as such', () =>
    expect(lines({ cp1: { machineId: 'same', bootId: '1' }, w1: { machineId: 'same', bootId: '1' } })).toEqual([
      'error unique-host cp1: is the same machine as w1',
    ]));
});

test('leftovers beside a cluster that lives there are not to be cleaned by kbuild', () => {
  const k3s = { protocol: 'tcp', port: 6444, address: '*', process: 'k3s-server' } as const;
  const remedies = (listeners: readonly (typeof k3s)[]) =>
    run({ w1: { kubeChains: ['KUBE-SERVICES'], listeners } }).find(({ check }) => check === 'leftovers')!.remedy;
  expect(remedies([k3s])).toContain('a cluster may live there (k3s runs)');
  expect(remedies([k3s])).not.toContain('kbuild reset');
  expect(remedies([])).toContain('kbuild reset --hosts w1');
});

describe('ports', () => {
  const apache = { protocol: 'tcp', port: 6443, address: '0.0.0.0', process: 'apache2' } as const;
  test('of the role are free, and the holder is named', () =>
    expect(lines({ cp1: { listeners: [apache] }, w1: { listeners: [apache] } })).toEqual([
      'error ports cp1: tcp port 6443, which kube-apiserver needs, is held by apache2 at 0.0.0.0',
    ]));
  test("of a host that kubeadm has worked on are kubeadm's own", () =>
    expect(lines({ cp1: { listeners: [apache], kubernetesTraces: new Set(['/etc/kubernetes/pki/ca.crt']) } })).toEqual(
      [],
    ));
});

test('a package transaction that was cut off is due', () =>
  expect(lines({ w1: { brokenPackages: [{ name: 'tzdata', state: 'half-configured' }] } })).toEqual([
    'due package-manager w1: an installation of packages was cut off: tzdata is half-configured',
  ]));

test('every check has a name of its own', () =>
  expect(new Set(checks.map(({ name }) => name)).size).toBe(checks.length));

test('where process 1 is not systemd, what it does not tell is no finding of its own, unless the check is ignored', () => {
  const facts = { w1: failing('swaps', { initSystem: 'openrc' }, 'w1'), cp1: failing('swaps') };
  const unknowns = (ignored: readonly string[]) => [
    ...new Set(run(facts, { ignored }).flatMap(({ severity, host }) => (severity === 'unknown' ? [host] : []))),
  ];
  expect(unknowns([])).toEqual(['cp1']);
  expect(unknowns(['init-system'])).toEqual(['cp1', 'w1']);
});
