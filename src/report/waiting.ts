/** A lock and its holder, as scripts print them. */
const LOCK = /^(\/\S+) is held by process \d+ \((.+)\)$/;

/** The kernel cuts the name of a process after so many characters. */
const KERNEL_CUTS = 15;

/** The regular report of a job: `packages since 30 s: WHAT; connected to …; 12 kB in 30 s`. A screen shows the numbers beside it. */
const REPORT = /^\S+ since \d+ s: (.*)$/;

const NUMBERS = /; (?:connected to [^;]*|\d+ kB in \d+ s)$/;

/** What a job waits for or does, short enough for a line of a host: `lock held by NAME (/run/xtables.lock)`. */
export function shortWait(summary: string): string {
  const [, file, name] = LOCK.exec(summary) ?? [];
  if (file !== undefined && name !== undefined)
    return `lock held by ${name.length >= KERNEL_CUTS ? `${name}…` : name} (${file})`;
  const report = REPORT.exec(summary)?.[1];
  return report === undefined ? summary : shortWait(report.replace(NUMBERS, '').replace(NUMBERS, ''));
}
