import { clusterPods, isNodeGone } from '../cluster/deleted-node.ts';
import type { Seen } from '../cluster/seen.ts';
import { networkPlugin } from '../components/network-plugins/index.ts';
import type { Step, Target } from '../engine/step.ts';
import { Refused } from '../errors.ts';
import { script } from '../templates.ts';

const MINUTES = 60_000;

/**
 * Waits until Kubernetes has deleted the pods of a deleted node (within 80 s: its pod garbage collector waits 40 s and runs
 * every 20 s). A node that registers earlier would keep pods whose addresses are outside its new podCIDR.
 */
export const podsDeleted: Step & Step<'windows'> = {
  name: 'pods-of-deleted-node',
  settleMs: 3 * MINUTES,
  diff: (target: Seen) => {
    const pods = isNodeGone(target) ? clusterPods(target) : [];
    if (pods.length === 0) return [];
    return [
      {
        summary: `wait until Kubernetes has deleted the pods of ${target.host.name}, whose node was deleted (found ${String(pods.length)})`,
      },
    ];
  },
};

/** @throws Refused if the kubelet has no valid certificate, which it needs to register */
function refuseWithoutCertificate({ host, facts }: Target): void {
  const found = facts.certificates.find(({ name }) => name === 'kubelet-client');
  const ended = found !== undefined && Date.parse(found.expires) <= facts.nowMs;
  if (found !== undefined && !ended) return;
  throw new Refused(
    host.name,
    `its node was deleted, and its kubelet cannot register again: its certificate ${ended ? `ended ${found.expires}` : 'is gone'}`,
    `run \`kbuild remove ${host.name}\`, which cleans the host, then \`kbuild up\`, which joins it again`,
  );
}

/** Restarts the kubelet of a joined host whose Node object was deleted: it registers its node only when it starts. */
const registered: Step = {
  name: 'node-registered',
  settleMs: 2 * MINUTES,
  diff: (target) => {
    if (!isNodeGone(target)) return [];
    const { inventory, host, facts } = target;
    refuseWithoutCertificate(target);
    const { interfaces, files } = networkPlugin(inventory).ofNode;
    const found = interfaces.filter((interfaceName) => facts.interfaces.some(({ name }) => name === interfaceName));
    return [
      {
        summary: `restart the kubelet of ${host.name}, which registers its node again (found the node deleted)`,
        disrupts: true,
        apply: async (on) => {
          await on(host).job('register-node', script('linux/register-node.sh', { INTERFACES: found, FILES: files }));
        },
      },
    ];
  },
};

/** Registers the node of a joined host again after it was deleted. A later step sets its labels and taints. */
export const registeredAgain: readonly Step[] = [podsDeleted, registered];
