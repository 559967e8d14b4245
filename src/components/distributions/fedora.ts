import { lines, probe } from '../../shell/probe.ts';
import { script } from '../../templates.ts';
import type { Distribution } from './distribution.ts';
import { dnf5 } from './dnf.ts';
import { rhelFamily } from './rhel.ts';

/** Fedora, with dnf5. Its own packages of Kubernetes have other names (`kubernetes1.36`), and conflict with those of kbuild. */
export const fedora: Distribution = {
  ...rhelFamily,
  family: 'fedora',
  id: 'fedora',
  name: 'Fedora',
  versions: ['43', '44'],
  ends: { '43': '2026-12-09', '44': '2027-06-02' },
  support: 'supported',
  packages: dnf5,
  pendingReboot: probe(script('rhel/probe-reboot-dnf5.sh'), (out) =>
    out.startsWith('pending') ? lines(out).slice(1) : 'none',
  ),
  // Docker publishes a repository for each version of Fedora.
  placeholders: ({ versionId }) => ({ distribution: 'fedora', codename: versionId }),
};
