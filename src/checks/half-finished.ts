import { standing } from '../cluster/standing.ts';
import { eachHostOfAny } from './each-host.ts';

/** No init or join of kbuild's was cut off here. */
export const halfFinished = eachHostOfAny(
  {
    name: 'half-finished',
    title: "no init, join or reset of kbuild's was cut off on the host",
    why: '`up` undoes what is half there and does it again. A half-finished cluster of anybody else is refused (exit 7).',
    severities: ['due'],
  },
  ({ inventory, host, facts, fleet }) => {
    if (standing({ inventory, host, facts, fleet }) !== 'partial') return [];
    const action = typeof facts.marker === 'object' ? facts.marker.action : 'change';
    return [{ severity: 'due', message: `kbuild's ${action} is half finished; up undoes it and does it again` }];
  },
);
