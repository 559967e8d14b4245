import { lines, probe } from '../../shell/probe.ts';
import { script } from '../../templates.ts';
import { chronyIncluded } from './chrony.ts';
import type { Distribution, Family, OsRelease } from './distribution.ts';
import { zypper } from './zypper.ts';

/** From version 16 on, systems of SUSE have SELinux instead of AppArmor. A rolling one has a date as its version. */
const hasSelinux = ({ versionId }: OsRelease): boolean => Number.parseInt(versionId, 10) >= 16;

/** What openSUSE and SUSE Linux Enterprise share. */
const suseFamily: Family = {
  family: 'suse',
  packages: zypper,
  // Docker has no repository for them. openSUSE packs containerd's client apart, as containerd-ctr.
  systemRuntimes: { containerd: ['containerd', 'containerd-ctr'] },
  lacks: ['docker'],
  programFolder: '/usr/local/bin',
  trustStore: { folder: '/etc/pki/trust/anchors', extension: 'pem', update: 'update-ca-certificates' },
  // The package chrony-pool-* puts the pool of the distribution there, too.
  chrony: chronyIncluded('chronyd', '/etc/chrony.conf', '/etc/chrony.d'),
  downloader: 'linux/download-with-curl.sh',
  kubeletArguments: '/etc/sysconfig/kubelet',
  pendingReboot: probe(script('suse/probe-reboot.sh'), (out) =>
    out.startsWith('pending') ? lines(out).slice(1) : 'none',
  ),
  toolPackages: {
    mount: 'util-linux',
    losetup: 'util-linux',
    cp: 'coreutils',
    ip: 'iproute2',
    ss: 'iproute2',
    modprobe: 'kmod',
    flock: 'util-linux',
    'systemd-run': 'systemd',
    bash: 'bash',
    getent: 'glibc',
  },
  // None of Kubernetes' rpm packages has needed them since 2025-09 (kubernetes/release#4106), iptables since 2026-09 (#4518).
  helpers: (release) => [
    ...['conntrack-tools', 'iproute2', 'iptables', 'ethtool', 'socat'],
    ...(hasSelinux(release) ? ['container-selinux'] : []),
  ],
  placeholders: ({ id, versionId }) => ({ distribution: id, codename: versionId }),
};

/** A system whose root is a snapshot that cannot be written. */
const ofSnapshots = (id: string, name: string): Distribution => ({
  ...suseFamily,
  id,
  name,
  versions: 'rolling',
  support: 'known',
  refusal: 'its packages go into a new snapshot of a read-only system (transactional-update), and work after a restart',
});

/** openSUSE and SUSE Linux Enterprise. Days by endoflife.date. */
export const suseSystems: readonly Distribution[] = [
  {
    ...suseFamily,
    id: 'opensuse-leap',
    name: 'openSUSE Leap',
    versions: ['16.0'],
    ends: { '16.0': '2027-10-31' },
    ended: { '15.6': '2026-04-30' },
    support: 'supported',
  },
  { ...suseFamily, id: 'opensuse-tumbleweed', name: 'openSUSE Tumbleweed', versions: 'rolling', support: 'supported' },
  {
    ...suseFamily,
    id: 'sles',
    name: 'SUSE Linux Enterprise Server',
    versions: ['15.7', '16.0'],
    ends: { '15.7': '2031-07-31', '16.0': '2027-11-30' },
    ended: { '15.6': '2025-12-31' },
    register: 'register the host: SUSEConnect --regcode CODE; 15 also needs the module sle-module-containers',
    support: 'supported',
  },
  ofSnapshots('opensuse-microos', 'openSUSE MicroOS'),
  ofSnapshots('sl-micro', 'SUSE Linux Micro'),
  ofSnapshots('sle-micro', 'SUSE Linux Enterprise Micro'),
  ofSnapshots('suse-microos', 'SUSE MicroOS'),
];
