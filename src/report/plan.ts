import type { PlannedChange } from '../engine/plan.ts';
import type { Phase } from '../engine/step.ts';

const MANY = 6;

/** Hosts of one sentence: named up to a handful, counted beyond. */
const hostList = (hosts: readonly string[]): string =>
  hosts.length <= MANY
    ? hosts.join(', ')
    : `${hosts.slice(0, MANY - 1).join(', ')} and ${String(hosts.length - MANY + 1)} more`;

/** A plan for people: by phase, the same change of several hosts on one line. */
export function planText(phases: readonly Phase[], changes: readonly PlannedChange[]): string {
  if (changes.length === 0) return 'nothing to do\n';
  const blocks = phases.flatMap(({ name, title }) => {
    const mine = changes.filter(({ phase }) => phase === name);
    if (mine.length === 0) return [];
    const bySummary = new Map<string, string[]>();
    for (const { summary, host, change } of mine) {
      const text = change.apply === undefined ? `then ${summary}` : summary;
      const hosts = bySummary.get(text);
      if (hosts === undefined) bySummary.set(text, [host]);
      else hosts.push(host);
    }
    return [`${title}\n${[...bySummary].map(([summary, hosts]) => `  ${hostList(hosts)}: ${summary}\n`).join('')}`];
  });
  const due = changes.filter(({ change }) => change.apply !== undefined);
  const hosts = new Set(due.map(({ host }) => host)).size;
  return `${blocks.join('\n')}\n${String(due.length)} changes on ${String(hosts)} hosts\n`;
}
