import { standing } from '../cluster/standing.ts';
import type { Step } from '../engine/step.ts';
import { isForeignAction, RESTORE } from '../facts/marker.ts';
import { paths } from '../paths.ts';
import { markerAway } from '../resources/marker-away.ts';
import { sh } from '../shell/sh.ts';
import { using } from '../templates.ts';

const BOOTSTRAP_CONF = '/etc/kubernetes/bootstrap-kubelet.conf';

/** Removes the marker and the bootstrap credentials of a joined host, whose run was interrupted just before its end. */
export const noMarker: Step = {
  name: 'no-marker',
  diff: (target) => {
    const { host, facts } = target;
    const bootstrap = facts.kubernetesTraces.has(BOOTSTRAP_CONF);
    if ((facts.marker === 'absent' && !bootstrap) || isForeignAction(facts.marker) || standing(target) !== 'joined')
      return [];
    // While the API does not answer, only the marker may show that an init did not finish.
    if (facts.marker !== 'absent' && target.fleet.cluster.state !== 'up') return [];
    return [
      {
        summary: `remove what a finished ${typeof facts.marker === 'object' ? facts.marker.action : 'join'} left (found ${facts.marker === 'absent' ? BOOTSTRAP_CONF : paths.marker})`,
        apply: async (on) => {
          const isOfRestore = typeof facts.marker === 'object' && facts.marker.action === RESTORE;
          const prepared = isOfRestore ? [`${facts.etcdFolder}/${paths.restoreWork}`] : [];
          await on(host).run(using(sh`rm -rf -- ${BOOTSTRAP_CONF} ${prepared}`, markerAway()));
        },
      },
    ];
  },
};
