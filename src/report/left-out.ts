import type { WaitingChange } from '../engine/absence.ts';
import { Refused } from '../errors.ts';
import type { Fleet } from '../facts/fleet.ts';

/** Hosts that a run left out, the changes that wait for them, and what to do. Empty where no host was left out. */
export function leftOutText(unreachable: Fleet['unreachable'], waiting: readonly WaitingChange[]): string {
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
    `  → when this is mended, run \`kbuild up\` again${remove}`,
    '',
  ].join('\n');
}
