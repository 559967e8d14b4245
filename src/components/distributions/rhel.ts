import { lines, probe } from '../../shell/probe.ts';
import { sh } from '../../shell/sh.ts';
import type { Distribution, Family } from './distribution.ts';
import { dnf } from './dnf.ts';

/** What Red Hat Enterprise Linux and its rebuilds share. */
const rhelFamily: Family = {
  family: 'rhel',
  packages: dnf,
  kubeletArguments: '/etc/sysconfig/kubelet',
  pendingReboot: probe(
    // Status 1: a reboot is needed. Without dnf-utils no program on the host knows it.
    sh`if ! command -v needs-restarting >/dev/null; then echo 'needs-restarting is missing: install dnf-utils' >&2; exit 1; fi
       if ! reasons=$(needs-restarting -r); then echo pending; echo "$reasons" | sed -n 's/^ *[*] *//p'; fi`,
    (out) => (out.startsWith('pending') ? lines(out).slice(1) : 'none'),
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
  // Docker publishes one repository for RHEL and its rebuilds, by major version only.
  placeholders: ({ versionId }) => ({ distribution: 'rhel', codename: versionId.split('.')[0]! }),
};

const rebuild = (id: string, name: string): Distribution => ({
  ...rhelFamily,
  id,
  name,
  versions: ['9', '10'],
  support: 'known',
});

export const rhel = rebuild('rhel', 'Red Hat Enterprise Linux');

export const rocky = rebuild('rocky', 'Rocky Linux');

export const almalinux = rebuild('almalinux', 'AlmaLinux');
