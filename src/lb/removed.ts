import type { Step } from '../engine/step.ts';
import { paths } from '../paths.ts';
import { runs } from '../resources/runs.ts';
import { sh } from '../shell/sh.ts';

/** What kbuild writes for its load balancers, and where it put what was there before. */
const FILES: Readonly<Record<string, string | undefined>> = {
  [paths.haproxyConfig]: paths.haproxyConfigBackup,
  [paths.keepalivedConfig]: paths.keepalivedConfigBackup,
  [paths.checkApiserver]: undefined,
};

/** In the order in which they stop: the address goes first. */
const UNITS = { keepalived: paths.keepalivedConfig, haproxy: paths.haproxyConfig } as const;

/** No load balancer of kbuild's runs on the host any more; the packages stay. Before its files are taken back. */
export const noLoadBalancer: Step = {
  name: 'no-load-balancer',
  diff: ({ host, facts }) => {
    const units = Object.entries(UNITS).flatMap(([unit, config]) => {
      const state = facts.services.get(unit);
      const runsOurs = state !== undefined && (state.active === 'active' || state.enabled === 'enabled');
      return runsOurs && facts.ownFiles.includes(config) ? [unit] : [];
    });
    if (units.length === 0) return [];
    return [
      {
        summary: `stop and disable ${units.join(' and ')} (found running with kbuild's configuration)`,
        apply: runs(host, sh`systemctl disable --now ${units}`),
      },
    ];
  },
};

/** A host that is no balancer any more has the configurations that were there before kbuild's, or none. */
export const noBalancerFiles: Step = {
  name: 'no-balancer-files',
  diff: ({ host, facts }) =>
    Object.entries(FILES)
      .filter(([path]) => facts.ownFiles.includes(path))
      .map(([path, backup]) =>
        backup !== undefined && facts.ownFiles.includes(backup)
          ? {
              summary: `restore ${path} from ${backup} (found kbuild's)`,
              apply: runs(host, sh`mv -- ${backup} ${path}`),
            }
          : { summary: `remove ${path} (found kbuild's)`, apply: runs(host, sh`rm -f -- ${path}`) },
      ),
};
