import { lowestApiServer } from '../cluster/api-versions.ts';
import { acting } from '../cluster/live.ts';
import type { Step } from '../engine/step.ts';
import { kubeadmRules } from '../kubeadm/upgrade-job.ts';
import { compareVersions, minorOf } from '../versions.ts';
import type { Hop } from './hop.ts';
import { KUBEADM_RULES } from './kubeadm-rules.facts.ts';
import { isOlder } from './versions.ts';

/**
 * Makes what `kubeadm upgrade apply` leaves in the cluster where some of it is missing: a control plane on which it was
 * cut off may be gone for good, or an older kbuild has ended it as `kubeadm upgrade node`. Holds until every control
 * plane has the version of the hop.
 */
export const rulesOfKubeadm = (hop: Hop): Step<'cluster'> => ({
  name: 'kubeadm-rules',
  settleMs: 60_000,
  diff: ({ inventory, facts, fleet }) => {
    if (facts.state !== 'up' || isOlder(lowestApiServer(facts), hop.version)) return [];
    const missing = KUBEADM_RULES.filter(({ since }) => compareVersions(minorOf(hop.version), since) >= 0)
      .map(({ object }) => object)
      .filter((object) => !facts.kubeadmRules.has(object));
    if (missing.length === 0) return [];
    return [
      {
        summary: `make what kubeadm's upgrade to ${hop.version} leaves in the cluster (found no ${missing.join(', ')})`,
        apply: async (on) => {
          const host = acting(fleet);
          await kubeadmRules(on(host), inventory, host);
        },
      },
    ];
  },
});
