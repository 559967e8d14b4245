/**
 * Hosts that differ: a control plane on what dnf and rpm make of Rocky 9 (docs/lab.md says what of it is real), a Debian worker,
 * and one whose runtime is CRI-O. Faults of the Rocky host's packages are distinguished, `up` builds the cluster, and `reset` leaves
 * the hosts clean.
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { stringify } from 'yaml';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { badRepository, type BadRepository } from '../bad-repository.ts';
import { crioRuntime } from '../inventory.ts';
import { inventoryFile, kbuild, type Ran } from '../kbuild.ts';
import * as lab from '../lab.ts';
import { ok } from '../ok.ts';
import { dial, kubectl, nodes, startEcho } from '../pods.ts';

const ROCKY = 'rpmcp1';
const DEBIAN = 'rpmw1';
const CRIO = 'rpmw2';
const HOSTS = [ROCKY, DEBIAN, CRIO];

let folder: string;
let file: string;
let inventory: lab.LabInventory;
let repository: BadRepository;

const up = (...more: readonly string[]): Promise<Ran> =>
  kbuild('up', file, '--yes', '--kubeconfig', join(folder, 'admin.conf'), ...more);
const on = async (command: string): Promise<string> => (await lab.inside(ROCKY, command)).stdout.trim();

/** Another dnf, as dnf sees one: its process ID is in the lock, until a job of kbuild says that it waits. */
const busy = `import glob, os, time
lock = "/var/lib/dnf/rpmdb_lock.pid"
open(lock, "w").write(str(os.getpid()))
end = time.monotonic() + 300
while time.monotonic() < end and not any("waiting: " in open(output).read() for output in glob.glob("/run/kbuild/**/output", recursive=True)):
    time.sleep(0.1)
open("/root/waited", "w").write(str(time.monotonic() < end))
os.remove(lock)
`;

beforeAll(async () => {
  await lab.up([ROCKY], { os: 'rocky9' });
  await lab.up([DEBIAN, CRIO]);
  await lab.reset(HOSTS);
  const plain = await lab.inventory(HOSTS);
  const runtime = await crioRuntime();
  const hosts = plain.hosts.map((host) => (host.name === CRIO ? { ...host, runtime } : host));
  inventory = { ...plain, name: 'hosts', hosts };
  ({ folder, file } = inventoryFile(inventory));
  process.env['XDG_STATE_HOME'] = join(folder, 'state');
  repository = await badRepository();
});

afterAll(async () => {
  await repository.close();
  await lab.down(HOSTS);
});

test('each fault of the packages of the Rocky host is told apart, and nothing is installed', async () => {
  const { repository: apt, ...runtime } = inventory['runtime'] as { readonly repository: { readonly rpm: object } };
  const rpm = { ...apt.rpm, url: `${repository.url}/docker/linux/{distribution}` };
  const bad = join(folder, 'bad.yaml');
  const text = stringify(
    { ...inventory, runtime: { ...runtime, repository: { ...apt, rpm } } },
    { aliasDuplicateObjects: false },
  );
  const cases = [
    {
      tamper: (path: string, content: Buffer) =>
        path.endsWith('.rpm') ? Buffer.from(content).fill('x', 5000, 5100) : content,
      says: /cause: a package is not what the repository says it is/,
    },
    {
      tamper: (path: string, content: Buffer) =>
        path.includes('-primary.') ? Buffer.from(content).fill('x', 100, 120) : content,
      says: /cause: a package is not what the repository says it is/,
    },
  ];
  for (const { tamper, says } of cases) {
    repository.tamper = tamper;
    writeFileSync(bad, text);
    const ran = await kbuild('up', bad, '--yes', '--phase', 'prepare,runtime', '--kubeconfig', `${bad}.conf`);
    expect.soft(ran.code, ran.stderr).toBe(4);
    expect.soft(ran.stderr).toMatch(says);
    await lab.inside(ROCKY, 'dnf clean all');
  }
  await lab.inside(ROCKY, 'echo exclude=containerd.io >>/etc/dnf/dnf.conf');
  const ran = await up('--phase', 'prepare,runtime');
  await lab.inside(ROCKY, 'sed -i /^exclude=/d /etc/dnf/dnf.conf');
  expect(ran.code, ran.stderr).toBe(4);
  expect(ran.stderr).toMatch(/containerd\.io 2\.2\.9 is excluded by the settings of dnf on this host/);
  expect(await on('rpm -q containerd.io')).toBe('package containerd.io is not installed');
});

test('up builds the cluster, and waits for another dnf', async () => {
  await lab.inside(ROCKY, 'systemd-run --quiet --collect python3 -c "$(cat)"', busy);
  const ran = ok(await up());
  console.log(`Rocky, Debian, and Debian with CRI-O: ${ran.seconds.toFixed(1)} s`);
  expect(await on('cat /root/waited')).toBe('True');
  expect(ran.stderr).toMatch(/rpmcp1: waiting: \S*rpmdb_lock\.pid is held by process \d+ \(python3\)/);
  expect(await nodes(ROCKY)).toEqual(Object.fromEntries(HOSTS.map((name) => [name, true])));
  expect(await kubectl(ROCKY, `get node ${ROCKY} -o jsonpath='{.status.nodeInfo.osImage}'`)).toContain('Rocky');
  const runtimes = `get nodes -o jsonpath='{range .items[*]}{.metadata.name}={.status.nodeInfo.containerRuntimeVersion} {end}'`;
  expect(await kubectl(ROCKY, runtimes)).toMatch(
    /^rpmcp1=containerd:\S+ rpmw1=containerd:\S+ rpmw2=cri-o:\/\/1\.36\.1 $/,
  );
  expect((await lab.inside(CRIO, 'ls /usr/bin/containerd')).code).not.toBe(0);
});

test('packages are locked at their versions, and hidden from an upgrade of the system', async () => {
  const locks = await on('cat /etc/dnf/plugins/versionlock.list');
  for (const name of ['kubelet', 'kubeadm', 'kubectl', 'kubernetes-cni', 'containerd.io'])
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
  expect(ok(await up()).stdout).toContain('nothing to do');
});

test('reset takes it all back: locks, repositories and their keys', async () => {
  ok(await kbuild('reset', file, '--yes-destroy', 'hosts'));
  const left = `grep -v '^#' /etc/dnf/plugins/versionlock.list
    ls -d /etc/yum.repos.d/*kbuild* /etc/pki/rpm-gpg/*kbuild* /var/lib/kbuild/* /etc/kubernetes/*.conf /var/lib/etcd/member \\
      /etc/cni/net.d/* /etc/{sysctl.d,modules-load.d}/*kbuild* 2>/dev/null
    rpm -qa gpg-pubkey --qf '%{SUMMARY}\\n' | grep -v 'lab rpm '
    iptables-save | grep -E 'KUBE-|CNI-|FLANNEL-'
    grep /var/lib/kubelet/ /proc/mounts`;
  expect(await on(left)).toBe('');
  // The package's example of CNI stays switched off.
  const ofCrio = `crictl ps -aq; crictl pods -q
    ls -d /etc/crio/crio.conf.d/*kbuild* /etc/kubernetes/*.conf /etc/cni/net.d/*.conf* /etc/containers/*/*kbuild* 2>/dev/null | grep -v '\\.disabled$'
    apt-mark showhold; grep /var/lib/kubelet/ /proc/mounts; iptables-save | grep -E 'KUBE-|CNI-|FLANNEL-'`;
  expect((await lab.inside(CRIO, ofCrio)).stdout.trim()).toBe('');
});
