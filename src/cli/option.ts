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

/** The values of these options, by key. An option that the command line does not name is undefined, but `--no-…` is true. */
export type OptionValues<Options extends readonly Option[]> = {
  readonly [O in Options[number] as KeyOf<O['flags']>]?: ValueOf<O> | undefined;
};
