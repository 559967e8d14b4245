/**
 * A worker that is a whole machine, emulated by QEMU: a kernel with modules, cgroup v2, a product_uuid, swap, a time service, and
 * SELinux enforcing by Debian's reference policy. What of it differs from RHEL is in docs/lab.md.
 */
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { inventoryFile, kbuild, type Ran } from '../lab/kbuild.ts';
import * as lab from '../lab/lab.ts';
import { ok, timed, unchanged } from '../lab/ok.ts';
import { dial, kubectl, nodes, startEcho, stopEcho } from '../lab/pods.ts';
import { waitUntil } from '../lab/wait-until.ts';
import { denialsIn } from './denials.ts';

const CP = 'vmcp1';
const VM = 'vmw1';
/** Nothing answers there: what counts is that a confined chronyd reads its name in kbuild's file. */
const TIME_SERVER = '10.77.0.1';

let folder: string;
let file: string;

const up = (): Promise<Ran> => kbuild('up', file, '--yes', '--kubeconfig', join(folder, 'admin.conf'));
const findings = async (): Promise<readonly string[]> => {
  const { findings: all } = JSON.parse((await kbuild('check', file, '--json')).stdout) as {
    findings: { check: string; host?: string; severity: string; message: string }[];
  };
  return (
    all
      // How long a login takes is a matter of the machine's load.
      .filter(({ host, check }) => host === VM && check !== 'slow-login')
      .map(({ check, severity, message }) => `${severity} ${check}: ${message}`)
  );
};

/** What a command prints on the virtual machine, by its sshd. */
async function on(command: string): Promise<string> {
  const { code, stdout, stderr } = await lab.ssh(VM, command);
  if (code !== 0) throw new Error(`${command}: exit ${String(code)}: ${stderr}`);
  return stdout.trim();
}

beforeAll(async () => {
  const from = performance.now();
  await lab.up([VM], { os: 'selinux' });
  console.log(
    `a fresh disk, and its first boot until sshd answers: ${((performance.now() - from) / 1000).toFixed(0)} s`,
  );
  await lab.up([CP]);
  const inventory = await lab.inventory([CP, VM]);
  const { init, kubeProxy } = inventory['kubeadm'] as Readonly<Record<string, unknown>>;
  ({ folder, file } = inventoryFile({
    ...inventory,
    name: 'machine',
    // The lab's concessions to its hosts are taken back for the worker: its kernel is its own.
    kubeadm: { init, kubeProxy },
    roles: {
      worker: {
        kubelet: { config: { failCgroupV1: true } },
        runtime: { config: { plugins: { 'io.containerd.cri.v1.runtime': { restrict_oom_score_adj: false } } } },
        timeSync: { kind: 'chrony', servers: [TIME_SERVER] },
      },
    },
  }));
});
afterAll(() => lab.down([CP, VM]));

test('the host is what it is meant to be: enforcing, cgroup v2, no modules, a product_uuid of its own, swap', async () => {
  await on(
    'fallocate -l 64M /swapfile && chmod 600 /swapfile && mkswap /swapfile && swapon /swapfile && echo "/swapfile none swap sw 0 0" >> /etc/fstab',
  );
  expect(await on('getenforce; stat -fc %T /sys/fs/cgroup; cat /sys/class/dmi/id/product_uuid')).toMatch(
    /^Enforcing\ncgroup2fs\n[0-9a-f-]{36}$/,
  );
  expect(await on('id -Z')).toContain(':unconfined_t:');
  expect(await on('lsmod')).not.toMatch(/^(overlay|br_netfilter|vxlan|nf_conntrack) /m);
});

test('check finds what up will change, and that SELinux enforces; nothing stops it', async () => {
  expect((await findings()).toSorted()).toEqual([
    'due kernel-modules: br_netfilter is not loaded',
    'due kernel-modules: overlay is not loaded',
    'due swap: swap is on: /swapfile, /swapfile in /etc/fstab',
    'due sysctls: net.bridge.bridge-nf-call-iptables is absent, net.bridge.bridge-nf-call-ip6tables is absent, net.ipv4.ip_forward is 0',
    'due time-sync: chrony does not run',
    'warning end-of-life: containerd 2.2 has had no security updates since 2026-11-06',
    'warning selinux: SELinux is enforcing and stays so; it does not isolate containers from each other',
  ]);
});

test('up joins it', async () => {
  timed('up of a control plane and the virtual machine', await up());
  expect(await nodes(CP)).toEqual({ [CP]: true, [VM]: true });
  expect(await on('getenforce')).toBe('Enforcing');
  const uuid = await kubectl(CP, `get node ${VM} -o jsonpath='{.status.nodeInfo.systemUUID}'`);
  expect(uuid.toLowerCase()).toBe(await on('cat /sys/class/dmi/id/product_uuid'));
});

test('the files that kbuild has written have the labels that the policy wants', async () => {
  const files =
    'modules-load.d/kbuild.conf,sysctl.d/99-zz-kbuild.conf,containerd/config.toml,chrony/sources.d/kbuild.sources';
  const repositories = 'apt/sources.list.d/kbuild-*.list,apt/keyrings/kbuild-*.asc';
  const labels = (await on(`matchpathcon -V /etc/{${files},${repositories}}`)).split('\n');
  expect(labels).toHaveLength(8);
  expect(labels.filter((line) => !line.endsWith(' verified.'))).toEqual([]);
});

/** What kbuild has set up on the host, as its kernel tells it. */
const setUp = (): Promise<string> =>
  on(`cat /etc/modules-load.d/kbuild.conf; lsmod | grep -oE '^(overlay|br_netfilter|nf_conntrack) ' | sort
    sysctl -n net.ipv4.ip_forward net.bridge.bridge-nf-call-iptables
    swapon --show --noheadings; systemctl is-active chrony kubelet containerd`);
const SET_UP = `# Written by kbuild.
overlay
br_netfilter
nf_conntrack
br_netfilter 
nf_conntrack 
overlay 
1
1
active
active
active`;

test('modules, sysctls, swap and clock are as Kubernetes needs them', async () => {
  expect(await setUp()).toBe(SET_UP);
  expect(await on('ps -o label= -C chronyd; chronyc -n sources')).toMatch(/:chronyd_t:[\s\S]* 10\.77\.0\.1 /);
});

test('containers run in cgroups of version 2, and pods of both hosts reach each other and the cluster’s DNS', async () => {
  expect(await on('ls -d /sys/fs/cgroup/kubepods.slice/*.slice')).toContain('kubepods-besteffort.slice');
  const pods = await startEcho(CP, 'machine', 600);
  expect(pods.map(({ node }) => node).toSorted()).toEqual([CP, VM]);
  for (const from of pods) {
    for (const to of pods) expect(await dial(CP, 'machine', from, to.ip), `${from.node} → ${to.node}`).toBe(to.name);
    await waitUntil(`${from.node}: an answer through the Service`, 120_000, () =>
      dial(CP, 'machine', from, 'echo.machine.svc.cluster.local', 80),
    );
  }
  await stopEcho(CP, 'machine');
});

test('of the kubelet, the runtime and the containers SELinux has denied only labels that Debian’s policy does not know', async () => {
  const denials = denialsIn(await on('journalctl -b --no-pager -o cat _TRANSPORT=audit'));
  console.log(`denials:\n${denials.join('\n')}`);
  expect(denials.filter((line) => /kubelet|containerd|runc|flannel|kube-proxy|pause/.test(line))).toEqual([
    'kubelet (initrc_t): mac_admin of capability2 initrc_t',
  ]);
});

test('a second run has nothing to do', async () => {
  unchanged(await up());
});

test('a reboot brings it all back, modules before the kubelet', async () => {
  const from = performance.now();
  await lab.reboot([VM]);
  console.log(`reboot until sshd answers: ${((performance.now() - from) / 1000).toFixed(0)} s`);
  await waitUntil(`${VM}: Ready after the reboot`, 600_000, async () => {
    const renewed = await kubectl(CP, `get node ${VM} -o jsonpath='{.status.nodeInfo.bootID}'`);
    return renewed === (await on('cat /proc/sys/kernel/random/boot_id')) && (await nodes(CP))[VM] === true;
  });
  expect(await setUp()).toBe(SET_UP);
  unchanged(await up());
});

test('reset takes it all back', async () => {
  ok(await kbuild('reset', file, '--yes-destroy', 'machine'));
  const left = `ls -d /etc/kubernetes/*.conf /etc/kubernetes/pki/* /etc/cni/net.d/* /var/lib/kbuild/* \
      /etc/{sysctl.d,modules-load.d,apt/sources.list.d,apt/keyrings}/*kbuild* 2>/dev/null
    iptables-save | grep -E 'KUBE-|CNI-|FLANNEL-'
    ip -o link show | grep -E 'cni0|flannel|veth'
    ss -Hltn 'sport = :10250'
    grep /var/lib/kubelet/ /proc/mounts; true`;
  expect(await on(left)).toBe('');
});
