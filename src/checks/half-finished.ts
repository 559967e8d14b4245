import { standing } from '../cluster/standing.ts';
import { finishing } from '../cluster/unfinished-actions.ts';
import { isForeignAction, UPGRADE } from '../facts/marker.ts';
import { eachHostOfAny } from './each-host.ts';

export const halfFinished = eachHostOfAny(
  {
    name: 'half-finished',
    title: "no init, join or reset of kbuild's was cut off on the host",
    why: '`up` undoes what is half there and does it again: an init, join or reset that kubeadm did not end, on a host that did not serve before. Any other unfinished action is reported, and never undone. A half-finished cluster of another inventory is refused (exit 7).',
    severities: ['due', 'warning'],
  },
  ({ inventory, host, facts, fleet }) => {
    if (typeof facts.marker === 'object' && isForeignAction(facts.marker))
      return [
        {
          severity: 'warning',
          message: `an unfinished ${facts.marker.action} of ${facts.marker.cluster} lies here (${facts.marker.stage}); up does not undo it`,
          remedy: `${finishing(facts.marker)}${facts.marker.action === UPGRADE ? '; where it has changed nothing, `kbuild upgrade` with the version of before takes it back' : ''}`,
        },
      ];
    if (standing({ inventory, host, facts, fleet }) !== 'partial') return [];
    const action = typeof facts.marker === 'object' ? facts.marker.action : 'change';
    return [{ severity: 'due', message: `kbuild's ${action} is half finished; up undoes it and does it again` }];
  },
);
