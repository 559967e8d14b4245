import { isNodeGone } from '../cluster/deleted-node.ts';
import { standing } from '../cluster/standing.ts';
import type { Step, Target } from '../engine/step.ts';
import type { Watches } from '../facts/watched.ts';
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

const watches: Watches = { units: Object.keys(UNITS) };

/** No load balancer of kbuild's runs on the host any more; the packages stay. Before its files are taken back. */
export const noLoadBalancer: Step = {
  name: 'no-load-balancer',
  watches,
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

/** True for a host that left the cluster: not one of its nodes any more, or never one. */
function isStray(target: Target): boolean {
  const { host, fleet } = target;
  if (host.role === 'load-balancer' || fleet.cluster.state !== 'up') return false;
  return isNodeGone(target) || standing(target) === 'foreign';
}

/**
 * The load balancer of a host that left the cluster stops before anything else is done there: it still claims the virtual
 * address, beside the host that holds it now.
 */
export const strayBalancer: Step = {
  name: 'stray-balancer',
  watches,
  diff: (target) => (isStray(target) ? noLoadBalancer.diff(target) : []),
};

/** The load balancer of a member, and of a cluster that goes as a whole, stops after kubeadm's reset, which may need it. */
export const membersBalancer: Step = {
  name: 'no-load-balancer',
  watches,
  diff: (target) => (isStray(target) ? [] : noLoadBalancer.diff(target)),
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
