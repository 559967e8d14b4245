import { kubeadmJob } from '../cluster/kubeadm-job.ts';
import { resetConfiguration } from '../cluster/kubeadm-config.ts';
import { secretYaml } from '../cluster/secret-yaml.ts';
import { standing } from '../cluster/standing.ts';
import type { Step } from '../engine/step.ts';

/** Takes back an init, join or reset of ours that did not come to its end, so that it can be done again. */
export const undoHalfFinished: Step = {
  name: 'undo-half-finished',
  diff: (target) => {
    if (standing(target) !== 'partial') return [];
    const { inventory, host, facts } = target;
    const action = typeof facts.marker === 'object' ? facts.marker.action : 'init';
    return [
      {
        summary: `undo a half-finished ${action} of ${inventory.name} (found ${String(facts.kubernetesTraces.size)} remnants)`,
        apply: (on) => kubeadmJob(on(host), inventory, 'reset', secretYaml([resetConfiguration(inventory)])),
      },
    ];
  },
};
