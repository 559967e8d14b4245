import type { Fleet } from '../cluster/fleet/fleet.ts';
import { changesIn, isWait, type PlannedChange, type WaitingChange } from '../engine/plan.ts';
import type { PlannedRestart } from '../engine/restarts.ts';
import type { Phase } from '../engine/step.ts';
import { Refused } from '../errors.ts';
import { counted, grouped, hostList } from './text.ts';

/**
 * Hosts that a run left out, the changes that wait for them, and what to do: `command` once more. Empty where no host
 * was left out.
 */
export function leftOutText(
  unreachable: Fleet['unreachable'],
  waiting: readonly WaitingChange[],
  command = 'up',
): string {
  if (unreachable.length === 0) return '';
  const names = unreachable
    .map(({ host, error }) => `${host.name} (${error instanceof Refused ? 'refused' : 'does not answer'})`)
    .join(', ');
  const bySummary = new Map<string, string[]>();
  for (const { host, summary } of waiting) bySummary.set(summary, [...(bySummary.get(summary) ?? []), host]);
  const dead = unreachable.filter(({ isDead }) => isDead === true).map(({ host }) => host.name);
  const remove =
    dead.length === 0
      ? ''
      : `; if ${dead.join(', ')} is gone for good: kbuild remove ${dead.join(' ')} --dead ${dead.join(',')}`;
  return [
    `left out: ${names}`,
    ...(bySummary.size === 0 ? [] : ['waiting for every control plane:']),
    ...[...bySummary].map(([summary, hosts]) => `  ${hosts.join(', ')}: ${summary}`),
    `  → when this is mended, run \`kbuild ${command}\` again${remove}`,
    '',
  ].join('\n');
}

/** `12 changes on 4 hosts`. A wait is no change. */
export function countOf(changes: readonly PlannedChange[]): string {
  const hosts = new Set(changes.map(({ host }) => host)).size;
  return `${counted(changes.length, 'change')} on ${counted(hosts, 'host')}`;
}

const seconds = (ms: number): string => `${String(Math.round(ms / 1000))} s`;

/** `90 s`, `10 min` or `2 h`: the largest unit that it has a whole number of. */
function wholeText(ms: number): string {
  const [unitMs, unit] = ms % 3_600_000 === 0 ? [3_600_000, 'h'] : ms % 60_000 === 0 ? [60_000, 'min'] : [1000, 's'];
  return `${String(ms / unitMs)} ${unit}`;
}

/** How hosts take their turns: `one after another, about 70 s each`. */
function pace({ hosts, atOnce, aboutMs, pauseMs }: PlannedRestart): string {
  if (hosts.length === 1) return `about ${seconds(aboutMs)}`;
  if (atOnce >= hosts.length && pauseMs === undefined) return `all at once, about ${seconds(aboutMs)}`;
  const pause = pauseMs === undefined ? '' : `, with a pause of ${wholeText(pauseMs)} between batches`;
  return `${atOnce === 1 ? 'one after another' : `${String(atOnce)} at once`}, about ${seconds(aboutMs)} each${pause}`;
}

/** The text of a plan, in parts. */
interface PlanParts {
  /** Phases that change or wait, with their lines. */
  readonly phases: readonly {
    readonly title: string;
    readonly text: string;
    readonly changes: readonly PlannedChange[];
  }[];
  /** Lines of what restarts; empty: nothing. */
  readonly restarts: string;
  /** The last line, without its end. */
  readonly sum: string;
}

/** A plan in parts: by phase, the same change of several hosts on one line; then the restarts, and the sum. */
export function planParts(
  phases: readonly Phase[],
  planned: readonly PlannedChange[],
  restarts: readonly PlannedRestart[] = [],
): PlanParts {
  const changes = changesIn(planned);
  const then = ({ change }: PlannedChange): string => (isWait(change) ? 'then ' : '');
  return {
    phases: phases.flatMap(({ name, title }) => {
      const mine = planned.filter(({ phase }) => phase === name);
      if (mine.length === 0) return [];
      const lines = grouped(mine, then, ({ summary }) => [summary]).map(
        ({ items, hosts, texts }) =>
          `  ${hostList(hosts)}: ${changes.length === 0 ? '' : then(items[0]!)}${texts[0]!}\n`,
      );
      return [{ title, text: lines.join(''), changes: changesIn(mine) }];
    }),
    restarts: restarts.map((one) => `  ${one.what} of ${hostList(one.hosts)}, ${pace(one)}\n`).join(''),
    sum: changes.length === 0 ? 'nothing to change: the above is waited for' : countOf(changes),
  };
}

/** A plan as text: by phase, the same change of several hosts on one line; then the restarts, and the sum. */
export function planText(
  phases: readonly Phase[],
  planned: readonly PlannedChange[],
  restarts: readonly PlannedRestart[] = [],
): string {
  if (planned.length === 0) return 'nothing to do\n';
  const parts = planParts(phases, planned, restarts);
  const blocks = parts.phases.map(({ title, text }) => `${title}\n${text}`);
  return `${[...blocks, ...(parts.restarts === '' ? [] : [`Restarts\n${parts.restarts}`])].join('\n')}\n${parts.sum}\n`;
}
