import { lines, probeInPlace } from '../../shell/probe.ts';
import { script } from '../../templates.ts';
import { chronyOfDhcp, chronySources } from './chrony.value.ts';
import type { Distribution, Family } from './distribution.value.ts';
import { dnf, dnf5 } from './dnf.value.ts';

/** What Red Hat Enterprise Linux, its rebuilds and its relatives share. */
const rhelFamily: Family = {
  family: 'rhel',
  packages: dnf,
  programFolder: '/usr/local/bin',
  trustStore: { folder: '/etc/pki/ca-trust/source/anchors', extension: 'crt', update: 'update-ca-trust extract' },
  chrony: chronyOfDhcp('chronyd', '/etc/chrony.conf', '/run/chrony-dhcp'),
  downloader: 'host/packages/download-with-curl.sh',
  kubeletArguments: '/etc/sysconfig/kubelet',
  pendingReboot: probeInPlace(script('host/packages/rhel/probe-reboot.sh'), (out) =>
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
  // None of Kubernetes' rpm packages has needed them since 2025-09 (kubernetes/release#4106), iptables since 2026-09
  // (#4518).
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

/** Amazon Linux: a relative with dnf 4, whose repositories have a release of their own every few weeks. */
export const amazonLinux: Distribution = {
  ...rhelFamily,
  id: 'amzn',
  name: 'Amazon Linux',
  versions: ['2023'],
  ends: { '2023': '2029-06-30' },
  support: 'supported',
  openRelease: 'latest',
  chrony: chronySources('chronyd', '/etc/chrony.conf', '/etc/chrony.d'),
  // Docker has no repository for it.
  systemRuntimes: { containerd: ['containerd', 'runc'] },
  lacks: ['docker'],
};

/**
 * Fedora, with dnf5. Its own packages of Kubernetes have other names (`kubernetes1.36`), and conflict with those of
 * kbuild.
 */
export const fedora: Distribution = {
  ...rhelFamily,
  family: 'fedora',
  id: 'fedora',
  name: 'Fedora',
  versions: ['43', '44'],
  ends: { '43': '2026-12-09', '44': '2027-06-02' },
  support: 'supported',
  packages: dnf5,
  pendingReboot: probeInPlace(script('host/packages/rhel/probe-reboot-dnf5.sh'), (out) =>
    out.startsWith('pending') ? lines(out).slice(1) : 'none',
  ),
  // Docker publishes a repository for each version of Fedora.
  placeholders: ({ versionId }) => ({ distribution: 'fedora', codename: versionId }),
};
