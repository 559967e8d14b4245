import { joinConfiguration } from '../configuration/kubeadm-config.ts';
import { kubeadmJob } from '../configuration/kubeadm-job.ts';
import { secretYaml } from '../configuration/secret-yaml.ts';
import { leavesOf, signedCertificates } from '../configuration/signed-certificates.ts';
import { standing } from '../cluster/standing.ts';
import { withWorkerJoin, workerJoinText } from '../cluster/worker-join.ts';
import type { Step } from '../engine/step.ts';

/** Joins a worker with a bootstrap token of its own, which kbuild deletes afterwards. */
export const joinWorker: Step = {
  name: 'kubeadm-join',
  settleMs: 5 * 60_000,
  diff: (target) => {
    if (standing(target) === 'joined') return [];
    const { inventory, host } = target;
    return [
      {
        summary: workerJoinText(target),
        apply: async (on) => {
          const signed = await signedCertificates(on(host), inventory, leavesOf(host, 'join'));
          await withWorkerJoin(target, on, (discovery) =>
            kubeadmJob(
              on(host),
              inventory,
              'join',
              secretYaml([joinConfiguration(inventory, host, discovery)]),
              signed,
            ),
          );
        },
      },
    ];
  },
};
