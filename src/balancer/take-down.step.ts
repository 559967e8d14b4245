import { isNodeGone } from '../cluster/nodes.ts';
import { standing } from '../cluster/standing.ts';
import { mapChanges, runs, when } from '../engine/combinators.ts';
import type { Step, Target } from '../engine/step.ts';
import { Refused } from '../errors.ts';
import { isSwitchedOn } from '../host/services.facts.ts';
import { balancers } from '../inventory/hosts.ts';
import { joinedNodes, kubeconfigsAstray } from '../kubeadm/endpoint.ts';
import { paths } from '../paths.ts';
import { sh } from '../shell/sh.ts';
import type { Watches } from '../shell/watched.ts';

/** The files that kbuild writes for its load balancers, each with the backup of the file that it replaced. */
const FILES: Readonly<Record<string, string | undefined>> = {
  [paths.haproxyConfig]: paths.haproxyConfigBackup,
  [paths.keepalivedConfig]: paths.keepalivedConfigBackup,
  [paths.checkApiserver]: undefined,
};

/** In the order in which they stop: keepalived first, because it holds the virtual address. */
const UNITS = { keepalived: paths.keepalivedConfig, haproxy: paths.haproxyConfig } as const;

const watches: Watches = { units: Object.keys(UNITS) };

/** The files of kbuild's load balancer that the inventory wants on the host. */
function wantedFiles({ inventory, host }: Target): readonly string[] {
  if (!balancers(inventory).some(({ name }) => name === host.name)) return [];
  return inventory.loadBalancer.kind === 'local' ? [paths.haproxyConfig] : Object.keys(FILES);
}

/** Stops what kbuild's load balancer runs on the host, but for what these files configure. The packages stay. */
const stopped = (kept: (target: Target) => readonly string[]): Step => ({
  name: 'no-load-balancer',
  watches,
  diff: (target) => {
    const { host, facts } = target;
    const units = Object.entries(UNITS).flatMap(([unit, config]) => {
      if (kept(target).includes(config)) return [];
      return isSwitchedOn(facts.services.get(unit)) && facts.ownFiles.includes(config) ? [unit] : [];
    });
    if (units.length === 0) return [];
    return [
      {
        summary: `stop and disable ${units.join(' and ')} (found running with kbuild's configuration)`,
        apply: runs(
          host,
          units.includes('haproxy')
            ? sh`systemctl disable --now ${units} && rm -f -- ${paths.haproxySocket}`
            : sh`systemctl disable --now ${units}`,
        ),
      },
    ];
  },
});

/** Stops kbuild's load balancer on the host, before another step removes its files. */
export const noLoadBalancer: Step = stopped(() => []);

/**
 * @throws Refused while a node of the cluster reaches the API by another endpoint than the inventory's: this balancer
 * may serve it
 */
function refuseInUse({ inventory, host, fleet }: Target): void {
  const { cluster } = fleet;
  if (cluster.state !== 'up') return;
  const found = joinedNodes(inventory, fleet).flatMap((seen) =>
    kubeconfigsAstray(inventory, cluster, seen).map(({ name, server }) => `${name} of ${seen.host.name} (${server})`),
  );
  if (found.length > 0)
    throw new Refused(
      'balancer-in-use',
      host.name,
      `its load balancer may still be in use: ${found.join(', ')}`,
      `lead them to the inventory's endpoint first: \`kbuild move-endpoint ${inventory.endpoint}\``,
    );
}

/** Stops what the inventory no longer wants of the load balancer of a host, when no node needs it. */
export const formerBalancer: Step = mapChanges(stopped(wantedFiles), (change, target) => ({
  ...change,
  apply: async (on) => {
    refuseInUse(target);
    await change.apply?.(on);
  },
}));

/** True for a host that is no node of the live cluster. */
function isStray(target: Target): boolean {
  const { host, fleet } = target;
  if (host.role === 'load-balancer' || fleet.cluster.state !== 'up') return false;
  return isNodeGone(target) || standing(target) === 'foreign';
}

/**
 * Stops the load balancer of a host outside the cluster, before all other steps: it still claims the virtual address
 * that another host must hold.
 */
export const strayBalancer: Step = { ...when(isStray, noLoadBalancer), name: 'stray-balancer' };

/** Stops the load balancer of a node. Runs after `kubeadm reset`, because that may need the load balancer. */
export const membersBalancer: Step = when((target) => !isStray(target), noLoadBalancer);

/** Removes the configurations of a load balancer that the inventory no longer wants, and restores what they replaced. */
export const noBalancerFiles: Step = {
  name: 'no-balancer-files',
  diff: (target) => {
    const { host, facts } = target;
    const wanted = wantedFiles(target);
    return Object.entries(FILES)
      .filter(([path]) => facts.ownFiles.includes(path) && !wanted.includes(path))
      .map(([path, backup]) =>
        backup !== undefined && facts.ownFiles.includes(backup)
          ? {
              summary: `restore ${path} from ${backup} (found kbuild's)`,
              apply: runs(host, sh`mv -- ${backup} ${path}`),
            }
          : { summary: `remove ${path} (found kbuild's)`, apply: runs(host, sh`rm -f -- ${path}`) },
      );
  },
};
