import { lines, probe } from '../../shell/probe.ts';
import { script } from '../../templates.ts';
import { chronyOfDhcp } from './chrony.ts';
import type { Distribution, Family } from './distribution.ts';
import { dnf } from './dnf.ts';

/** What Red Hat Enterprise Linux, its rebuilds and its relatives share. */
export const rhelFamily: Family = {
  family: 'rhel',
  packages: dnf,
  programFolder: '/usr/local/bin',
  trustStore: { folder: '/etc/pki/ca-trust/source/anchors', extension: 'crt', update: 'update-ca-trust extract' },
  chrony: chronyOfDhcp('chronyd', '/etc/chrony.conf', '/run/chrony-dhcp'),
  downloader: 'linux/download-with-curl.sh',
  kubeletArguments: '/etc/sysconfig/kubelet',
  pendingReboot: probe(script('rhel/probe-reboot.sh'), (out) =>
    out.startsWith('pending') ? lines(out).slice(1) : 'none',
  ),
  toolPackages: {
    mount: 'util-linux',
    losetup: 'util-linux-core',
    cp: 'coreutils',
    ip: 'iproute',
    ss: 'iproute',
    modprobe: 'kmod',
    flock: 'util-linux-core',
    'systemd-run': 'systemd',
    bash: 'bash',
    getent: 'glibc-common',
  },
  // None of Kubernetes' rpm packages has needed them since 2025-09 (kubernetes/release#4106), iptables since 2026-09 (#4518).
  helpers: () => ['conntrack-tools', 'iproute-tc', 'iptables-nft', 'ethtool', 'socat', 'container-selinux'],
  // Docker publishes one repository for RHEL and its rebuilds, by major version only.
  placeholders: ({ versionId }) => ({ distribution: 'rhel', codename: versionId.split('.')[0]! }),
};

const rebuild = (id: string, name: string, over: Partial<Distribution> = {}): Distribution => ({
  ...rhelFamily,
  id,
  name,
  versions: ['9', '10'],
  ends: { '9': '2032-05-31', '10': '2035-05-31' },
  support: 'supported',
  // The release notes of RHEL 10: iptables' kernel modules are deprecated, and ipset; nftables is in their place.
  nftablesSince: '10',
  ...over,
});

/** Red Hat Enterprise Linux and its rebuilds. CentOS Stream has no minor versions. */
export const rhelAndRebuilds: readonly Distribution[] = [
  rebuild('rhel', 'Red Hat Enterprise Linux', { register: 'register the host: subscription-manager register' }),
  rebuild('rocky', 'Rocky Linux'),
  rebuild('almalinux', 'AlmaLinux'),
  // Oracle has published no day for 10.
  rebuild('ol', 'Oracle Linux', { ends: { '9': '2032-06-30' } }),
  rebuild('centos', 'CentOS Stream', { ends: { '9': '2027-05-31', '10': '2030-05-31' } }),
];
