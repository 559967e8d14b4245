import { nodeOfEarlierMachine } from '../cluster/identity.ts';
import { clusterPods, isNodeGone } from '../cluster/nodes.ts';
import { standing } from '../cluster/standing.ts';
import type { Seen } from '../cluster/standings.ts';
import type { Step, Target } from '../engine/step.ts';
import { Refused } from '../errors.ts';
import { networkPlugin } from '../network/plugins.value.ts';
import { paths } from '../paths.ts';
import { sh } from '../shell/sh.ts';
import { script, using } from '../templates.ts';
import { isForeignAction, markerAway, RESTORE } from './marker.facts.ts';

/** Limit in ms: twice the 40 s to 50 s for which a node stays Ready after its kubelet's last report. */
const SETTLE_MS = 120_000;

/**
 * Waits until no Ready node of another machine has the host's name and address. After a reinstallation the old node
 * stays Ready for a while. If it stays Ready longer, another machine has the same address, and kbuild does not delete
 * its node.
 */
export const earlierMachineGone: Step = {
  name: 'earlier-machine-gone',
  settleMs: SETTLE_MS,
  diff: (target) => {
    if (standing(target) === 'joined') return [];
    const found = nodeOfEarlierMachine(target, target.fleet);
    return found === undefined ? [] : [{ summary: `wait until the earlier machine's node is not Ready (${found})` }];
  },
};

const BOOTSTRAP_CONF = '/etc/kubernetes/bootstrap-kubelet.conf';

/** Removes the marker and the bootstrap credentials of a joined host, whose run was interrupted just before its end. */
export const noMarker: Step = {
  name: 'no-marker',
  diff: (target) => {
    const { host, facts } = target;
    const bootstrap = facts.kubernetesTraces.has(BOOTSTRAP_CONF);
    if ((facts.marker === 'absent' && !bootstrap) || isForeignAction(facts.marker) || standing(target) !== 'joined')
      return [];
    // While the API does not answer, the marker may be the only sign of an unfinished init.
    if (facts.marker !== 'absent' && target.fleet.cluster.state !== 'up') return [];
    return [
      {
        summary:
          `remove what a finished ${typeof facts.marker === 'object' ? facts.marker.action : 'join'} left (found ` +
          `${facts.marker === 'absent' ? BOOTSTRAP_CONF : paths.marker})`,
        apply: async (on) => {
          const isOfRestore = typeof facts.marker === 'object' && facts.marker.action === RESTORE;
          const prepared = isOfRestore ? [`${facts.etcdFolder}/${paths.restoreWork}`] : [];
          await on(host).run(using(sh`rm -rf -- ${BOOTSTRAP_CONF} ${prepared}`, markerAway()));
        },
      },
    ];
  },
};

const MINUTES = 60_000;

/**
 * Waits until Kubernetes has deleted the pods of a deleted node (within 80 s: its pod garbage collector waits 40 s and
 * runs every 20 s). A node that registers earlier would keep pods whose addresses are outside its new podCIDR.
 */
export const podsDeleted: Step & Step<'windows'> = {
  name: 'pods-of-deleted-node',
  settleMs: 3 * MINUTES,
  diff: (target: Seen) => {
    const pods = isNodeGone(target) ? clusterPods(target) : [];
    if (pods.length === 0) return [];
    return [
      {
        summary:
          `wait until Kubernetes has deleted the pods of ${target.host.name}, whose node was deleted (found ` +
          `${String(pods.length)})`,
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
    'kubelet-certificate-ended',
    host.name,
    'its node was deleted, and its kubelet cannot register again: its certificate ' +
      (ended ? `ended ${found.expires}` : 'is gone'),
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
          await on(host).job('register-node', script('kubeadm/register-node.sh', { INTERFACES: found, FILES: files }));
        },
      },
    ];
  },
};

/** Registers the node of a joined host again after it was deleted. A later step sets its labels and taints. */
export const registeredAgain: readonly Step[] = [podsDeleted, registered];
