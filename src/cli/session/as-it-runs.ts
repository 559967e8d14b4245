import { lowestApiServer } from '../../cluster/api-versions.ts';
import type { Fleet } from '../../facts/fleet.ts';
import type { Inventory } from '../../model/inventory.ts';
import { atVersion } from '../../topology/at-version.ts';
import { hasOldKubelet } from '../../upgrade/running.ts';
import { compareVersions, versionIn } from '../../versions.ts';
import type { Context } from '../context.ts';

/**
 * The inventory as if it named the version that the live cluster runs, where that is older: only `upgrade` changes it, and everything
 * else is done for the version that is there. Says so, and which kubelets an upgrade has not reached yet.
 */
export function asItRuns({ err }: Pick<Context, 'err'>, inventory: Inventory, { cluster }: Fleet): Inventory {
  const desired = inventory.kubernetes.version;
  if (cluster.state !== 'up') return inventory;
  const running = lowestApiServer(cluster);
  if (compareVersions(desired, running) <= 0) {
    const old = cluster.nodes.filter(
      (node) =>
        inventory.hosts.some(({ name }) => name === node.name) &&
        versionIn(node.kubeletVersion) !== undefined &&
        hasOldKubelet(node, running),
    );
    if (old.length > 0)
      err(
        `the kubelets of ${old.map(({ name }) => name).join(', ')} are older than Kubernetes ${running}: \`kbuild upgrade\` brings them there\n`,
      );
    return inventory;
  }
  err(`the cluster runs Kubernetes ${running}, the inventory names ${desired}: \`kbuild upgrade\` brings it there\n`);
  return atVersion(inventory, running);
}
