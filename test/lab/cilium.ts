/** Clusters with Cilium, whose chart and images the lab builds. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { buildOnDemand } from './build-all.ts';
import { LabError } from './errors.ts';
import type { LabInventory } from './inventory.ts';
import { inside } from './lab.ts';
import { CILIUM_IMAGES_URL } from './network-plan.ts';
import { paths } from './paths.ts';
import { CILIUM_IMAGES_PATH, CILIUM_PATH, HELM_PATH } from './recipes.ts';
import { attempt } from './run.ts';
import { VERSIONS } from './versions.ts';

/** Makes chart, images and Helm, unless they are there. To be called before the hosts are up, with which the registries start. */
export async function buildCilium(): Promise<void> {
  for (const path of [HELM_PATH, CILIUM_PATH, CILIUM_IMAGES_PATH]) await buildOnDemand(path);
  process.env['PATH'] = `${join(paths.www, HELM_PATH)}:${process.env['PATH']!}`;
}

/** The part of a host in the machine's hierarchy of cgroup v2. */
const partOf = (host: string): string => `kbuild-lab-${host}`;

/** At boot, before any service: all processes of a host go into its own part, which is what Cilium finds mounted. */
const unitOf = (host: string): string => `cat > /usr/local/sbin/own-cgroup2 <<'SH'
#!/bin/sh
set -eu
mkdir -p /run/all-cgroup2 /run/cilium/cgroupv2
mount -t cgroup2 none /run/all-cgroup2
mkdir -p /run/all-cgroup2/${partOf(host)}
for _ in 1 2; do
  for process in /proc/[0-9]*; do echo "\${process##*/}" > /run/all-cgroup2/${partOf(host)}/cgroup.procs || true; done 2>/dev/null
done
mount --bind /run/all-cgroup2/${partOf(host)} /run/cilium/cgroupv2
umount /run/all-cgroup2
SH
chmod 755 /usr/local/sbin/own-cgroup2
printf '[Unit]\nDefaultDependencies=no\nBefore=sysinit.target\n[Service]\nType=oneshot\nRemainAfterExit=yes\nExecStart=/usr/local/sbin/own-cgroup2\n[Install]\nWantedBy=sysinit.target\n' > /etc/systemd/system/own-cgroup2.service
systemctl enable --now own-cgroup2
grep -q '^0::.*/${partOf(host)}$' /proc/1/cgroup`;

/**
 * BPF programs of a host's Cilium see its own processes alone: on a machine with cgroup v1 all hosts share the root of the
 * hierarchy of v2, where Cilium would change the connections of every process. @throws LabError if it did not work
 */
export async function ownCgroups(hosts: readonly string[]): Promise<void> {
  if (existsSync('/sys/fs/cgroup/cgroup.controllers')) return;
  for (const host of hosts) {
    const { code, stderr } = await inside(host, unitOf(host));
    if (code !== 0) throw new LabError(`${host} has no cgroup of its own: ${stderr}`);
  }
}

/** Removes what `ownCgroups` has left on the machine. The hosts must be down. */
export async function noCgroups(hosts: readonly string[]): Promise<void> {
  // systemd-nspawn has put its hosts into `payload`.
  for (const host of hosts)
    for (const above of ['', 'payload']) await attempt('rmdir', [join('/sys/fs/cgroup/unified', above, partOf(host))]);
}

/** As in the chart, without SYS_RESOURCE, which no host of the lab has. */
const CAPABILITIES = {
  ciliumAgent:
    'CHOWN KILL NET_ADMIN NET_RAW IPC_LOCK SYS_MODULE SYS_ADMIN DAC_OVERRIDE FOWNER SETGID SETUID SYSLOG'.split(' '),
  cleanCiliumState: ['NET_ADMIN', 'SYS_MODULE', 'SYS_ADMIN'],
};

/** Settings of an inventory with Cilium. `plain`: that of the lab; `more`: of `network.cilium`. */
export function withCilium(plain: LabInventory, kubeProxy: 'iptables' | 'none', more: object = {}): LabInventory {
  const runtime = plain['runtime'] as { readonly registries: readonly object[] };
  const registries = [...runtime.registries, { host: 'quay.io', mirrors: [CILIUM_IMAGES_URL] }];
  const values = { securityContext: { capabilities: CAPABILITIES } };
  const cilium = { version: VERSIONS.cilium, chart: join(paths.www, CILIUM_PATH, 'cilium.tgz'), values, ...more };
  return { ...plain, runtime: { ...runtime, registries }, network: { plugin: 'cilium', kubeProxy, cilium } };
}
