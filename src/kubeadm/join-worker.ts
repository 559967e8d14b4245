import { acting, liveCluster } from '../cluster/acting.ts';
import { withJoinToken } from '../cluster/join-token.ts';
import { joinConfiguration } from '../cluster/kubeadm-config.ts';
import { kubeadmJob } from '../cluster/kubeadm-job.ts';
import { kubectl } from '../cluster/kubectl.ts';
import { secretYaml } from '../cluster/secret-yaml.ts';
import { standing } from '../cluster/standing.ts';
import type { Step, Target } from '../engine/step.ts';
import type { On } from '../remote/remote.ts';
import { sh } from '../shell/sh.ts';

async function join({ inventory, host, fleet }: Target, on: On): Promise<void> {
  const { caFingerprint, nodes } = liveCluster(fleet);
  const control = acting(fleet);
  // A host that came back empty: kubeadm refuses to join while a node of its name still counts as Ready.
  if (nodes.some(({ name }) => name === host.name))
    await on(control).run(sh`${kubectl(inventory, control)} delete node --ignore-not-found ${host.name}`);
  await withJoinToken(on(control), inventory, host.name, (token) =>
    kubeadmJob(
      on(host),
      inventory,
      'join',
      secretYaml([joinConfiguration(inventory, host, { token, caHash: caFingerprint })]),
    ),
  );
}

/** Joins a worker to the cluster with a token that is minted for it and deleted afterwards. */
export const joinWorker: Step = {
  name: 'kubeadm-join',
  settleMs: 5 * 60_000,
  diff: (target) => {
    if (standing(target) === 'joined') return [];
    const { inventory, host, fleet } = target;
    const { cluster } = fleet;
    const stale = cluster.state === 'up' && cluster.nodes.some(({ name }) => name === host.name);
    return [
      {
        summary: `join ${host.name} to ${inventory.endpoint} as a worker${stale ? ' (found a stale node of that name)' : ''}`,
        apply: (on) => join(target, on),
      },
    ];
  },
};
