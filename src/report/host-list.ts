/** Up to this number, every name is listed. */
const MANY = 6;

/** `1 host`, `2 hosts`. */
export const counted = (count: number, noun: string): string => `${String(count)} ${noun}${count === 1 ? '' : 's'}`;

/** The stem and the number of a name such as `w12`; undefined for `w012x`, or for a number that Number would round. */
function numbered(name: string): { readonly stem: string; readonly number: number } | undefined {
  const [, stem, digits] = /^(.*?)(0|[1-9]\d{0,14})$/.exec(name) ?? [];
  return stem === undefined || digits === undefined ? undefined : { stem, number: Number(digits) };
}

/** Runs of three and more consecutive numbers as `w1 … w9`, in the order of the hosts. */
function runsOf(hosts: readonly string[]): readonly string[] {
  const runs: string[][] = [];
  for (const host of hosts) {
    const run = runs.at(-1);
    const [before, now] = [numbered(run?.at(-1) ?? ''), numbered(host)];
    const follows = before !== undefined && now?.stem === before.stem && now.number === before.number + 1;
    if (follows) run!.push(host);
    else runs.push([host]);
  }
  return runs.flatMap((run) => (run.length < 3 ? run : [`${run[0]!} … ${run.at(-1)!}`]));
}

/** Names of hosts in a sentence. More than six are shortened: `w1 … w200 (200 hosts)`. */
export function hostList(hosts: readonly string[]): string {
  if (hosts.length <= MANY) return hosts.join(', ');
  const runs = runsOf(hosts);
  const some = runs.length <= MANY ? runs.join(', ') : `${runs.slice(0, MANY - 1).join(', ')}, …`;
  return `${some} (${counted(hosts.length, 'host')})`;
}
