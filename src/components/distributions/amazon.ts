import { chronySources } from './chrony.ts';
import type { Distribution } from './distribution.ts';
import { rhelFamily } from './rhel.ts';

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
