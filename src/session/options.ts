import { UsageError } from '../errors.ts';

/** What can stand where a value is asked for: completion in shells proposes it. */
export type Candidates =
  | 'files'
  | 'hosts'
  | 'hosts and groups'
  | 'phases'
  | 'checks'
  | 'certificates'
  | 'topics'
  | 'runs'
  | 'documents'
  | readonly string[];

/** An option of a command: its texts in `--help` and docs/cli.md, and how its value is read. */
export interface Option<Flags extends string = string, Value = unknown> {
  /** As commander reads it: `-q, --quiet`, `--hosts <names>`, `--no-drain`. */
  readonly flags: Flags;
  /** For `--help`; in docs/cli.md `details` follow it. */
  readonly summary: string;
  /** For docs/cli.md: sentences in Markdown. */
  readonly details?: string;
  /** Reads one value; lists of a repeated option are joined. @throws UsageError */
  readonly parse?: (text: string) => Value;
  /** The key of an option that cannot be combined with this one. */
  readonly conflicts?: string;
  /** Values that completion proposes. Default: files where `flags` name a `<file>` or `<path>`, else none. */
  readonly completes?: Candidates;
}

type Texts = Pick<Option, 'summary' | 'details' | 'conflicts' | 'completes'>;
type Unparsed<Flags extends string> = Flags extends `${string}<${string}` ? string : boolean;

/** An option whose value is a boolean, or a string where `flags` name a `<value>`. */
export const option = <const Flags extends string>(flags: Flags, texts: Texts): Option<Flags, Unparsed<Flags>> => ({
  flags,
  ...texts,
});

/** An option whose value `parse` reads. */
export const parsedOption = <const Flags extends string, Value>(
  flags: Flags,
  parse: (text: string) => Value,
  texts: Texts,
): Option<Flags, Value> => ({ flags, parse, ...texts });

/** `drain-timeout` → `drainTimeout` */
type Camel<Name extends string> = Name extends `${infer Word}-${infer Rest}`
  ? `${Word}${Capitalize<Camel<Rest>>}`
  : Name;

/** The key under which commander hands an option over: `-q, --quiet` → `quiet`, `--no-drain` → `drain`. */
type KeyOf<Flags extends string> = Flags extends `${string}--${infer Name} <${string}`
  ? Camel<Name>
  : Flags extends `${string}--no-${infer Name}`
    ? Camel<Name>
    : Flags extends `${string}--${infer Name}`
      ? Camel<Name>
      : never;

type ValueOf<O extends Option> = O extends Option<string, infer Value> ? Value : never;

/**
 * The values of these options, by key. An option that the command line does not name is undefined, but `--no-…` is
 * true.
 */
export type OptionValues<Options extends readonly Option[]> = {
  readonly [O in Options[number] as KeyOf<O['flags']>]?: ValueOf<O> | undefined;
};

/** How many hosts kbuild works on at once, by default. */
export const DEFAULT_CONCURRENCY = 30;

/** `a,b` → its items. */
export const list = (text: string): readonly string[] =>
  text
    .split(',')
    .map((item) => item.trim())
    .filter((item) => item !== '');

/** The same. An empty list is an error: an unset variable of a script must not mean every host. @throws UsageError */
export function filledList(text: string): readonly string[] {
  const items = list(text);
  if (items.length === 0) throw new UsageError('the list is empty; name at least one, or leave the flag out');
  return items;
}

/** `90s`, `30m`, `2h` → milliseconds. @throws UsageError */
export function duration(text: string): number {
  const [, amount, unit] = /^(\d+)(s|m|h)$/.exec(text) ?? [];
  if (amount === undefined) throw new UsageError('a duration looks like 90s, 30m or 2h');
  return Number(amount) * { s: 1_000, m: 60_000, h: 3_600_000 }[unit as 's' | 'm' | 'h'];
}

/** A whole number of at least 1. @throws UsageError */
export function count(text: string): number {
  if (!/^[1-9]\d*$/.test(text)) throw new UsageError('a whole number of at least 1 is needed');
  return Number(text);
}

/** `3` or `20%`: how many of a number of hosts, at least one. @throws UsageError */
export function share(text: string): (all: number) => number {
  const [, amount, percent] = /^([1-9]\d*)(%?)$/.exec(text) ?? [];
  if (amount === undefined || (percent === '%' && Number(amount) > 100))
    throw new UsageError('a number of at least 1 is needed, or a share like 20%');
  return (all) => (percent === '' ? Number(amount) : Math.max(1, Math.floor((all * Number(amount)) / 100)));
}

/**
 * The deadline of every job in ms, from `KBUILD_JOB_DEADLINE`; undefined: each kind of job has its own. @throws
 * UsageError
 */
export function jobDeadline(env: Readonly<Record<string, string | undefined>>): number | undefined {
  const value = env['KBUILD_JOB_DEADLINE'];
  if (value === undefined || value === '') return undefined;
  try {
    return duration(value);
  } catch (error) {
    throw new UsageError(`KBUILD_JOB_DEADLINE="${value}": ${(error as Error).message}`);
  }
}

export const noColor = option('--no-color', { summary: 'no colours (NO_COLOR and CI are honoured)' });

/** Options of every command that reads an inventory. */
export const everywhere = [
  option('-i, --inventory <file>', {
    summary: 'inventory file, - for standard input (default: $KBUILD_INVENTORY, then ./inventory.yaml)',
  }),
  noColor,
] as const;

export const json = option('--json', {
  summary: 'results as JSON on standard output, nothing else',
  details:
    'One document, or one event a line (`up`, `upgrade`, `remove`, `reset`, `certs renew`, `certs recover`, ' +
    '`certs renew-ca`, `certs rotate-ca`, `restore`, `etcd snapshot restore`): see [JSON](#json).',
});

export const codeQuality = option('--code-quality <file>', {
  summary: "write the findings as GitLab's Code Quality report",
  details: 'See [In a pipeline](ci.md).',
});

export const quiet = option('-q, --quiet', { summary: 'print only results and errors, no progress' });

export const acceptNewHostKeys = option('--accept-new-host-keys', {
  summary: 'record unknown host keys',
  details: 'A changed host key is refused all the same.',
});

/** Options of commands that connect to hosts. */
export const connecting = [
  option('-v, --verbose', {
    summary: 'print a line for each command on a host and each phase of it, and do not redraw the screen',
    details: 'Cannot be combined with `-q`.',
    conflicts: 'quiet',
  }),
  parsedOption('--concurrency <n>', count, { summary: 'how many hosts to work on at once (default 30)' }),
  acceptNewHostKeys,
  option('--log-file <path>', {
    summary: "the run's full log, mode 0600 (default: a new file in $XDG_STATE_HOME/kbuild/<cluster>/)",
  }),
] as const;

/** Options of commands that connect to hosts and print results. */
export const usual = [...everywhere, json, quiet, ...connecting] as const;

export const hosts = parsedOption('--hosts <names>', filledList, {
  completes: 'hosts and groups',
  summary: 'change or show only these hosts or groups of hosts; patterns with * work',
  details:
    'kbuild observes all hosts all the same. A pattern that matches no host or group, or an empty list, is exit ' +
    '2 before any host is contacted.',
});

export const phase = parsedOption('--phase <names>', filledList, {
  completes: 'phases',
  summary: 'only these phases',
  details: 'A name that is no phase of `up`, or an empty list, is exit 2 before any host is contacted.',
});

export const dead = parsedOption('--dead <names>', filledList, {
  completes: 'hosts',
  summary: 'these hosts are gone: they may be unreachable, and changes that need them wait',
  details:
    'See [Hosts that are gone](#hosts-that-are-gone). A name that the inventory does not have is exit 2 ' +
    '(`remove` and `etcd snapshot restore` also take members that it no longer names). A host that answers, a ' +
    'node that stays Ready or a healthy etcd member is exit 7.',
});

export const ignoreCheck = parsedOption('--ignore-check <names>', filledList, {
  completes: 'checks',
  summary: 'lower findings of these checks to warnings',
  details: 'A refusal (exit 7) cannot be ignored.',
});

export const yes = option('-y, --yes', {
  summary: 'do not ask for confirmation',
  details: 'kbuild does not ask either when the plan has more changes once this run holds the lock.',
});

export const drainTimeout = parsedOption('--drain-timeout <duration>', duration, {
  summary: 'how long pods may take to leave a node (default: rollout.drainTimeout, 5m)',
});

/** How nodes are drained. */
export const draining = [drainTimeout, option('--no-drain', { summary: 'do not drain nodes' })] as const;

export const kubeconfig = option('--kubeconfig <path>', {
  summary: 'where to write the admin kubeconfig (default ./<name>.kubeconfig)',
});

export const bundleOnFailure = option('--bundle <file>', {
  summary: 'on failure, write a support bundle (tar.gz, secrets masked)',
});

export const timeout = parsedOption('--timeout <duration>', duration, {
  summary: "the whole run's deadline, e.g. 30m",
  details:
    'It counts from the start of the command. It ends the run as Ctrl-C does, with exit 5: see [Interrupting a ' +
    'run](#interrupting-a-run).',
});

/** Values of the options that several commands share. */
export type Flags = OptionValues<
  readonly [
    ...typeof everywhere,
    ...typeof connecting,
    ...typeof draining,
    typeof json,
    typeof quiet,
    typeof hosts,
    typeof phase,
    typeof dead,
    typeof ignoreCheck,
    typeof yes,
    typeof bundleOnFailure,
    typeof timeout,
  ]
>;
