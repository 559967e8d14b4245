/**
 * Hosts that differ: a control plane of Rocky 9 and a Debian worker, both with CRI-O, workers of openSUSE Leap 16.0 with its own
 * containerd and of Flatcar with published programs (docs/lab.md says what of these systems is real). Faults of the packages of Rocky
 * and Leap are distinguished, `up` builds the cluster, and `remove` and `reset` leave the hosts clean.
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { stringify } from 'yaml';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { badRepository, type BadRepository } from '../bad-repository.ts';
import { crioRuntime } from '../inventory.ts';
import { inventoryFile, kbuild, type Ran } from '../kbuild.ts';
import * as lab from '../lab.ts';
import { GATEWAY, PRIVATE_REGISTRY_PORT } from '../network-plan.ts';
import { ok, unchanged } from '../ok.ts';
import { dial, kubectl, nodes, startEcho } from '../pods.ts';
import { type PublishedPrograms, publishedPrograms } from '../published-programs.ts';

const ROCKY = 'rpmcp1';
const LEAP = 'rpmw1';
const CRIO = 'rpmw2';
const FLATCAR = 'rpmw3';
const HOSTS = [ROCKY, LEAP, CRIO, FLATCAR];

const PACKAGE_OF_OTHERS = /cause: a package is not what the repository says it is/;

let folder: string;
let file: string;
let inventory: lab.LabInventory;
let repository: BadRepository;
let site: PublishedPrograms;

const up = (...more: readonly string[]): Promise<Ran> =>
  kbuild('up', file, '--yes', '--kubeconfig', join(folder, 'admin.conf'), ...more);
const onHost = async (host: string, command: string): Promise<string> =>
  (await lab.inside(host, command)).stdout.trim();
const on = (command: string): Promise<string> => onHost(ROCKY, command);

/** What the end of a run says about the failure of one host. */
const aboutHost = (host: string, report: string): string =>
  report
    .split(/^(?=✖ )/m)
    .filter((part) => part.startsWith(`✖ ${host}: status`))
    .join('');

/** Another dnf or zypper, as these see one: its process ID is in the lock, until a job of kbuild says that it waits. */
const busy = (lock: string): string => `import glob, os, time
lock = "${lock}"
open(lock, "w").write(str(os.getpid()))
end = time.monotonic() + 300
while time.monotonic() < end and not any("waiting: " in open(output).read() for output in glob.glob("/run/kbuild/**/output", recursive=True)):
    time.sleep(0.1)
open("/root/waited", "w").write(str(time.monotonic() < end))
os.remove(lock)
`;

beforeAll(async () => {
  await lab.up([ROCKY], { os: 'rocky9' });
  await lab.up([LEAP], { os: 'leap16' });
  await lab.up([FLATCAR], { os: 'flatcar' });
  await lab.up([CRIO]);
  await lab.reset(HOSTS);
  const plain = await lab.inventory(HOSTS);
  const runtime = await crioRuntime();
  site = await publishedPrograms(['1.36']);
  const own: Readonly<Record<string, object>> = {
    [ROCKY]: { runtime },
    [CRIO]: { runtime },
    [LEAP]: { trustedCAs: [lab.tls.ca] },
  };
  const hosts = plain.hosts.map((host) => ({ ...host, ...own[host.name] }));
  inventory = { ...plain, name: 'hosts', downloads: site.downloads, hosts };
  ({ folder, file } = inventoryFile(inventory));
  process.env['XDG_STATE_HOME'] = join(folder, 'state');
  repository = await badRepository();
});

afterAll(async () => {
  await repository.close();
  site.close();
  await lab.down(HOSTS);
});

test('each fault of the packages of the Rocky host is told apart, and nothing is installed', async () => {
  const { repository: apt, ...runtime } = inventory['runtime'] as { readonly repository: { readonly rpm: object } };
  const rpm = { ...apt.rpm, url: `${repository.url}/docker/linux/{distribution}` };
  const bad = join(folder, 'bad.yaml');
  const good = join(folder, 'good.yaml');
  // Here the Rocky host has containerd, of Docker's repository.
  const hosts = inventory.hosts.map((host) =>
    host.name === ROCKY ? Object.fromEntries(Object.entries(host).filter(([key]) => key !== 'runtime')) : host,
  );
  const inYaml = (more: object): string =>
    stringify({ ...inventory, hosts, ...more }, { aliasDuplicateObjects: false });
  const text = inYaml({ runtime: { ...runtime, repository: { ...apt, rpm } } });
  writeFileSync(good, inYaml({}));
  const install = (path: string): Promise<Ran> =>
    kbuild('up', path, '--yes', '--phase', 'prepare,runtime', '--kubeconfig', `${path}.conf`);
  const cases = [
    {
      tamper: (path: string, content: Buffer) =>
        path.endsWith('.rpm') ? Buffer.from(content).fill('x', 5000, 5100) : content,
      says: PACKAGE_OF_OTHERS,
    },
    {
      tamper: (path: string, content: Buffer) =>
        path.includes('-primary.') ? Buffer.from(content).fill('x', 100, 120) : content,
      says: PACKAGE_OF_OTHERS,
    },
  ];
  for (const { tamper, says } of cases) {
    repository.tamper = tamper;
    writeFileSync(bad, text);
    const ran = await install(bad);
    expect.soft(ran.code, ran.stderr).toBe(4);
    expect.soft(ran.stderr).toMatch(says);
    await lab.inside(ROCKY, 'dnf clean all');
  }
  await lab.inside(ROCKY, 'echo exclude=containerd.io >>/etc/dnf/dnf.conf');
  const ran = await install(good);
  await lab.inside(ROCKY, 'sed -i /^exclude=/d /etc/dnf/dnf.conf');
  expect(ran.code, ran.stderr).toBe(4);
  expect(ran.stderr).toMatch(/containerd\.io 2\.2\.9 is excluded by the settings of dnf on this host/);
  expect(await on('rpm -q containerd.io')).toBe('package containerd.io is not installed');
  ok(await install(good));
  expect(await on('rpm -q --qf "%{VERSION}" containerd.io; systemctl is-active containerd')).toBe('2.2.9active');
  expect(await on('cat /etc/dnf/plugins/versionlock.list')).toMatch(/^containerd\.io-0:/m);
  // The cluster's own control plane has CRI-O.
  await lab.reset([ROCKY]);
});

test('each fault of the packages of the Leap host is told apart, and nothing is installed', async () => {
  const { kubernetes } = inventory as unknown as {
    readonly kubernetes: { readonly repository: { readonly rpm: object } };
  };
  const rpm = { ...kubernetes.repository.rpm, url: `${repository.url}/kubernetes/v{minor}/rpm` };
  const bad = join(folder, 'bad-leap.yaml');
  // Alone in its inventory: the other hosts shall have their packages by the next test's run.
  const alone = {
    ...inventory,
    hosts: inventory.hosts.filter(({ name }) => name === LEAP).map((host) => ({ ...host, role: 'control-plane' })),
  };
  const given = { ...alone, kubernetes: { ...kubernetes, repository: { ...kubernetes.repository, rpm } } };
  const good = join(folder, 'good-leap.yaml');
  writeFileSync(bad, stringify(given, { aliasDuplicateObjects: false }));
  writeFileSync(good, stringify(alone, { aliasDuplicateObjects: false }));
  const install = (path: string): Promise<Ran> =>
    kbuild('up', path, '--yes', '--phase', 'prepare,runtime,packages', '--kubeconfig', `${path}.conf`);
  const spoilt = (content: Buffer): Buffer => Buffer.from(content).fill('x', 100, 120);
  const faults: readonly (readonly [BadRepository['tamper'], RegExp])[] = [
    [(path, content) => (path.includes('/kubelet-') ? spoilt(content) : content), PACKAGE_OF_OTHERS],
    [(path, content) => (path.includes('-primary.') ? spoilt(content) : content), PACKAGE_OF_OTHERS],
    [
      (path, content) => (path.endsWith('/repomd.xml') ? Buffer.concat([content, Buffer.from('<!-- -->')]) : content),
      PACKAGE_OF_OTHERS,
    ],
    [
      (path, content) => (path.includes('/kubelet-') ? 'missing' : content),
      /cause: the repository does not have this version/,
    ],
  ];
  for (const [tamper, cause] of faults) {
    repository.tamper = tamper;
    const ran = await install(bad);
    expect.soft(ran.code, ran.stderr).toBe(4);
    expect.soft(aboutHost(LEAP, ran.stderr)).toMatch(cause);
    await lab.inside(LEAP, 'zypper -q clean -a');
  }
  await lab.inside(LEAP, "zypper -q addlock 'kube*'");
  const locked = await install(good);
  await lab.inside(LEAP, "zypper -q removelock 'kube*'");
  expect(locked.code, locked.stderr).toBe(4);
  expect(aboutHost(LEAP, locked.stderr)).toMatch(/kubelet is locked by the settings of zypper on this host \(kube\*/);
  expect(await onHost(LEAP, 'rpm -q kubelet')).toBe('package kubelet is not installed');
});

test('up builds the cluster, and waits for another dnf and another zypper', async () => {
  const start = 'systemd-run --quiet --collect python3 -c "$(cat)"';
  await lab.inside(ROCKY, start, busy('/var/lib/dnf/rpmdb_lock.pid'));
  await lab.inside(LEAP, start, busy('/run/zypp.pid'));
  const ran = ok(await up());
  console.log(`Rocky and Debian with CRI-O, Leap and Flatcar with containerd: ${ran.seconds.toFixed(1)} s`);
  for (const host of [ROCKY, LEAP]) expect(await onHost(host, 'cat /root/waited')).toBe('True');
  expect(ran.stderr).toMatch(/rpmcp1: waiting: \S*rpmdb_lock\.pid is held by process \d+ \(python3\)/);
  expect(ran.stderr).toMatch(/rpmw1: waiting: \/run\/zypp\.pid is held by process \d+ \(python3\)/);
  expect(await nodes(ROCKY)).toEqual(Object.fromEntries(HOSTS.map((name) => [name, true])));
  const images = `get nodes -o jsonpath='{range .items[*]}{.status.nodeInfo.osImage};{end}'`;
  expect(await kubectl(ROCKY, images)).toMatch(/^Rocky Linux [^;]*;openSUSE Leap 16\.0;Debian [^;]*;Flatcar [^;]*;$/);
  const runtimes = `get nodes -o jsonpath='{range .items[*]}{.metadata.name}={.status.nodeInfo.containerRuntimeVersion} {end}'`;
  expect(await kubectl(ROCKY, runtimes)).toMatch(
    /^rpmcp1=cri-o:\/\/1\.36\.1 rpmw1=containerd:\S+ rpmw2=cri-o:\/\/1\.36\.1 rpmw3=containerd:\S+ $/,
  );
  for (const host of [ROCKY, CRIO]) expect((await lab.inside(host, 'ls /usr/bin/containerd')).code).not.toBe(0);
});

test('the Leap host has containerd from its own repository, and its packages are locked', async () => {
  expect(await onHost(LEAP, 'rpm -q --qf "%{NAME} %{VERSION} " containerd containerd-ctr')).toBe(
    'containerd 2.2.9 containerd-ctr 2.2.9',
  );
  expect(await onHost(LEAP, 'ls /etc/zypp/repos.d')).toBe('kbuild-kubernetes.repo\nopenSUSE:repo-oss.repo');
  const locks = await onHost(LEAP, 'zypper -n locks');
  for (const name of ['kubelet', 'kubeadm', 'kubectl', 'kubernetes-cni', 'containerd', 'containerd-ctr'])
    expect(locks).toMatch(new RegExp(`\\| ${name} +\\| package`));
  // A lock also keeps a package from being removed.
  expect((await lab.inside(LEAP, 'zypper -n remove kubelet')).code).toBe(4);
  expect(await onHost(LEAP, 'rpm -q conntrack-tools socat ethtool container-selinux | grep -c "not installed"')).toBe(
    '0',
  );
  await lab.inside(LEAP, 'zypper -n removelock kubelet');
  const { stderr } = ok(await up());
  expect(stderr).toMatch(/hold kubelet \(found 1\.36\.3-150500\.1\.1, not held\)/);
  expect(await onHost(LEAP, 'zypper -n locks')).toMatch(/\| kubelet +\| package/);
});

test('the Leap host trusts the authority that the inventory names for it', async () => {
  const asked = `curl -sS -m 10 -o /dev/null -w '%{http_code}' https://${GATEWAY}:${String(PRIVATE_REGISTRY_PORT)}/v2/ 2>&1 | head -n 1`;
  expect(await onHost(LEAP, asked)).toContain('401');
});

test('packages are locked at their versions, and hidden from an upgrade of the system', async () => {
  const locks = await on('cat /etc/dnf/plugins/versionlock.list');
  for (const name of ['kubelet', 'kubeadm', 'kubectl', 'kubernetes-cni', 'cri-o'])
    expect(locks).toMatch(new RegExp(`^${name}-0:`, 'm'));
  await lab.inside(ROCKY, 'dnf versionlock clear');
  expect(await on('dnf -q repoquery kubelet')).toBe('');
  expect(await on('rpm -q conntrack-tools iproute-tc container-selinux | grep -c "not installed"')).toBe('0');
  ok(await up());
  expect(await on('cat /etc/dnf/plugins/versionlock.list')).toMatch(/^kubelet-0:/m);
});

test('pods of all hosts reach each other', async () => {
  const pods = await startEcho(ROCKY, 'hosts');
  expect(pods.map(({ node }) => node).sort()).toEqual([...HOSTS].sort());
  for (const from of pods)
    for (const to of pods) expect(await dial(ROCKY, 'hosts', from, to.ip), `${from.node} → ${to.node}`).toBe(to.name);
});

test('a second run has nothing to do', async () => {
  unchanged(await up());
});

test('remove takes all back from the Leap host: locks, repositories, keys and authorities', async () => {
  ok(await kbuild('remove', LEAP, '-i', file, '--yes'));
  const left = `cat /etc/zypp/locks
    ls -d /etc/zypp/repos.d/*kbuild* /etc/zypp/*kbuild* /etc/pki/trust/anchors/* /var/lib/kbuild/* /etc/kubernetes/*.conf \\
      /etc/cni/net.d/* /etc/{sysctl.d,modules-load.d}/*kbuild* 2>/dev/null
    rpm -qa gpg-pubkey --qf '%{SUMMARY}\\n' | grep -v 'lab rpm '
    iptables-save | grep -E 'KUBE-|CNI-|FLANNEL-'
    grep /var/lib/kubelet/ /proc/mounts`;
  expect(await onHost(LEAP, left)).toBe('');
});

test('reset takes it all back: locks, repositories and their keys', async () => {
  ok(await kbuild('reset', file, '--yes-destroy', 'hosts'));
  const left = `grep -v '^#' /etc/dnf/plugins/versionlock.list
    ls -d /etc/yum.repos.d/*kbuild* /etc/pki/rpm-gpg/*kbuild* /var/lib/kbuild/* /etc/kubernetes/*.conf /var/lib/etcd/member \\
      /etc/cni/net.d/*.conflist /etc/{sysctl.d,modules-load.d}/*kbuild* 2>/dev/null
    rpm -qa gpg-pubkey --qf '%{SUMMARY}\\n' | grep -v 'lab rpm '`;
  expect(await on(left)).toBe('');
  // The package's example of CNI stays switched off.
  const ofCrio = `crictl ps -aq; crictl pods -q
    ls -d /etc/crio/crio.conf.d/*kbuild* /etc/kubernetes/*.conf /etc/cni/net.d/*.conf* /etc/containers/*/*kbuild* 2>/dev/null | grep -v '\\.disabled$'
    grep /var/lib/kubelet/ /proc/mounts; iptables-save | grep -E 'KUBE-|CNI-|FLANNEL-'`;
  for (const host of [ROCKY, CRIO]) expect(await onHost(host, ofCrio)).toBe('');
  expect(await onHost(CRIO, 'apt-mark showhold')).toBe('');
});
