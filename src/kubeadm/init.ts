import { founder } from '../cluster/founder.ts';
import { initDocuments } from '../configuration/kubeadm-config.ts';
import { kubeadmJob } from '../configuration/kubeadm-job.ts';
import { secretYaml } from '../configuration/secret-yaml.ts';
import { ownAuthorityFiles } from '../configuration/shared-certificates.ts';
import { leavesOf, signedCertificates } from '../configuration/signed-certificates.ts';
import { standing } from '../cluster/standing.ts';
import type { Step } from '../engine/step.ts';
import { Refused } from '../errors.ts';

/** Initializes a new cluster on its founder. The other control planes join it. */
export const kubeadmInit: Step = {
  name: 'kubeadm-init',
  settleMs: 5 * 60_000,
  diff: (target) => {
    if (standing(target) === 'joined') return [];
    const { inventory, host, fleet } = target;
    const first = founder(inventory, fleet);
    if ('none' in first) {
      if (fleet.cluster.state !== 'absent') return [];
      throw new Refused(host.name, `it cannot found ${inventory.name}: ${first.none}`);
    }
    if (first.host.name !== host.name) return [];
    return [
      {
        summary: `found the cluster ${inventory.name}, Kubernetes ${inventory.kubernetes.version}, at ${inventory.endpoint} (found none)`,
        apply: async (on) => {
          const signed = await signedCertificates(on(host), inventory, leavesOf(host, 'init'), 'with-accounts');
          await kubeadmJob(on(host), inventory, 'init', secretYaml(initDocuments(inventory, host)), {
            ...ownAuthorityFiles(inventory),
            ...signed,
          });
        },
      },
    ];
  },
};
