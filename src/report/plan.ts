import { changesIn, type PlannedChange } from '../engine/plan.ts';
import type { Phase } from '../engine/step.ts';
import { grouped } from './grouped.ts';
import { counted, hostList } from './host-list.ts';

/** `12 changes on 4 hosts`: what is only waited for is no change. */
function countOf(changes: readonly PlannedChange[]): string {
  const hosts = new Set(changes.map(({ host }) => host)).size;
  return `${counted(changes.length, 'change')} on ${counted(hosts, 'host')}`;
}

/** A plan for people: by phase, the same change of several hosts on one line. */
export function planText(phases: readonly Phase[], planned: readonly PlannedChange[]): string {
  if (planned.length === 0) return 'nothing to do\n';
  const changes = changesIn(planned);
  const blocks = phases.flatMap(({ name, title }) => {
    const mine = planned.filter(({ phase }) => phase === name);
    if (mine.length === 0) return [];
    const then = ({ change }: PlannedChange): string => (change.apply === undefined ? 'then ' : '');
    const lines = grouped(mine, then, ({ summary }) => [summary]).map(
      ({ items, hosts, texts }) => `  ${hostList(hosts)}: ${changes.length === 0 ? '' : then(items[0]!)}${texts[0]!}\n`,
    );
    return [`${title}\n${lines.join('')}`];
  });
  const sum = changes.length === 0 ? 'nothing to change: the above is waited for' : countOf(changes);
  return `${blocks.join('\n')}\n${sum}\n`;
}
