import { InvalidArgumentError } from 'commander';
import { UsageError } from '../errors.ts';

/** The flags of all commands, as commander hands them over. */
export interface Flags {
  readonly inventory?: string;
  readonly hosts?: readonly string[] | undefined;
  readonly phase?: readonly string[];
  readonly concurrency?: number;
  readonly yes?: boolean;
  readonly yesDestroy?: string;
  readonly dead?: readonly string[];
  readonly drainTimeout?: number;
  /** commander's form of `--no-drain`. */
  readonly drain?: boolean;
  readonly json?: boolean;
  readonly active?: boolean;
  readonly junit?: string;
  readonly detailedExitcode?: boolean;
  readonly diff?: boolean;
  readonly ignoreCheck?: readonly string[];
  readonly acceptNewHostKeys?: boolean;
  readonly logFile?: string;
  readonly bundle?: string;
  readonly timeout?: number;
  /** `windows selftest`: whose pods are tested. */
  readonly os?: string;
  /** `windows selftest`: host:port for the flow to the outside. */
  readonly outside?: string;
  readonly kubeconfig?: string;
  readonly merge?: string;
  readonly force?: boolean;
  readonly verbose?: boolean;
  readonly quiet?: boolean;
}

/** Hosts at once, when nothing else is said. */
export const DEFAULT_CONCURRENCY = 30;

/** `a,b` and repeated flags. */
export const list = (value: string, before: readonly string[] = []): readonly string[] => [
  ...before,
  ...value
    .split(',')
    .map((item) => item.trim())
    .filter((item) => item !== ''),
];

/** The same, of which an empty one is a mistake: an unset variable of a script must not mean every host. */
export function filledList(value: string, before: readonly string[] = []): readonly string[] {
  const items = list(value);
  if (items.length === 0) throw new InvalidArgumentError('the list is empty; name at least one, or leave the flag out');
  return [...before, ...items];
}

/** `90s`, `30m`, `2h` → milliseconds. */
export function duration(value: string): number {
  const [, amount, unit] = /^(\d+)(s|m|h)$/.exec(value) ?? [];
  if (amount === undefined) throw new InvalidArgumentError('a duration looks like 90s, 30m or 2h');
  return Number(amount) * { s: 1_000, m: 60_000, h: 3_600_000 }[unit as 's' | 'm' | 'h'];
}

/** A whole number of at least 1. */
export function count(value: string): number {
  if (!/^[1-9]\d*$/.test(value)) throw new InvalidArgumentError('a whole number of at least 1 is needed');
  return Number(value);
}

/** The deadline of every job in ms, from `KBUILD_JOB_DEADLINE`; undefined: that of its kind. @throws UsageError */
export function jobDeadline(env: Readonly<Record<string, string | undefined>>): number | undefined {
  const value = env['KBUILD_JOB_DEADLINE'];
  if (value === undefined || value === '') return undefined;
  try {
    return duration(value);
  } catch (error) {
    throw new UsageError(`KBUILD_JOB_DEADLINE="${value}": ${(error as Error).message}`);
  }
}
