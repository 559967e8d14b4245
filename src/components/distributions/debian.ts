import { lines, probe } from '../../shell/probe.ts';
import { sh } from '../../shell/sh.ts';
import { apt } from './apt.ts';
import { chronySources } from './chrony.ts';
import type { Distribution, Family } from './distribution.ts';

/** What Debian and its derivatives share. */
const debianFamily: Family = {
  family: 'debian',
  packages: apt,
  programFolder: '/usr/local/bin',
  trustStore: { folder: '/usr/local/share/ca-certificates', extension: 'crt', update: 'update-ca-certificates' },
  chrony: chronySources('chrony', '/etc/chrony/chrony.conf', '/etc/chrony/sources.d'),
  downloader: 'debian/download.sh',
  kubeletArguments: '/etc/default/kubelet',
  pendingReboot: probe(
    sh`if [ -e /run/reboot-required ]; then echo pending; if [ -e /run/reboot-required.pkgs ]; then sort -u /run/reboot-required.pkgs; fi; fi`,
    (out) => (out.startsWith('pending') ? lines(out).slice(1) : 'none'),
  ),
  toolPackages: {
    mount: 'mount',
    losetup: 'mount',
    cp: 'coreutils',
    ip: 'iproute2',
    ss: 'iproute2',
    modprobe: 'kmod',
    flock: 'util-linux',
    'systemd-run': 'systemd',
    bash: 'bash',
    getent: 'libc-bin',
  },
  // Kubernetes' packages depend on what they need.
  helpers: () => [],
  placeholders: ({ id, codename }) => ({ distribution: id, codename }),
};

export const debian: Distribution = {
  ...debianFamily,
  id: 'debian',
  name: 'Debian',
  versions: ['12', '13'],
  // 12: the end of its LTS; Debian's own security team stopped on 2026-07-11 (endoflife.date).
  ends: { '12': '2028-06-30', '13': '2028-08-09' },
  support: 'supported',
};

export const ubuntu: Distribution = {
  ...debianFamily,
  id: 'ubuntu',
  name: 'Ubuntu',
  versions: ['22.04', '24.04', '26.04'],
  ends: { '22.04': '2027-04-30', '24.04': '2029-05-31', '26.04': '2031-04-30' },
  support: 'supported',
};
