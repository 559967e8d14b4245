/** The time service of systemd, which many systems run unless another is installed. chrony takes its place. */
export const SYSTEMD_TIME = 'systemd-timesyncd';

/** Time services that an operator has chosen: kbuild stops none of them, and two cannot both keep a clock. */
const OF_OPERATORS: ReadonlySet<string> = new Set(['ntp', 'ntpd', 'ntpsec', 'openntpd']);

/** Of the time services that run on a host, those in whose place kbuild does not put chrony. */
export const timeServicesOfOperators = (running: readonly string[]): readonly string[] =>
  running.filter((unit) => OF_OPERATORS.has(unit));
