/** A program of a Windows host that prints its version. */
export interface VersionedProgram {
  readonly name: string;
  readonly path: string;
  readonly arguments: readonly string[];
  /** Exit statuses beside 0 with which it may end. */
  readonly exits: readonly number[];
}

/** Things of a host that its probes read by name because a step or a check declares them. */
export interface Watches {
  readonly files?: readonly string[];
  /** Folders whose files are all observed, at any depth. */
  readonly trees?: readonly string[];
  readonly packages?: readonly string[];
  /** systemd units, without `.service`; on Windows services. */
  readonly units?: readonly string[];
  /** Key files of package repositories. */
  readonly keyrings?: readonly string[];
  /** Features of Windows. */
  readonly features?: readonly string[];
  readonly programs?: readonly VersionedProgram[];
  /** Names of rules of the firewall of Windows. */
  readonly firewallRules?: readonly string[];
  /** Variables of the machine's environment on Windows. */
  readonly variables?: readonly string[];
  /** Folders of a Windows host whose access rules are read. */
  readonly access?: readonly string[];
}

/** Everything that the probes of one host read by name, each name once. */
export type Watched = Required<Watches>;

/** Unites what several steps and checks watch on a host. */
export function united(all: Iterable<Watches>): Watched {
  const parts = [...all];
  const names = (list: Exclude<keyof Watches, 'programs'>): readonly string[] => [
    ...new Set(parts.flatMap((one) => one[list] ?? [])),
  ];
  return {
    files: names('files'),
    trees: names('trees'),
    packages: names('packages'),
    units: names('units'),
    keyrings: names('keyrings'),
    features: names('features'),
    programs: [...new Map(parts.flatMap(({ programs = [] }) => programs.map((one) => [one.name, one]))).values()],
    firewallRules: names('firewallRules'),
    variables: names('variables'),
    access: names('access'),
  };
}

/**
 * The observed state of things that a host's probes read by name. Reading a name that no probe reads throws a plain `Error`
 * (a bug): its absence would be a guess.
 */
export class WatchedMap<V> extends Map<string, V> {
  readonly #isWatched: (name: string) => boolean;

  constructor(found: Iterable<readonly [string, V]>, isWatched: (name: string) => boolean) {
    super(found);
    this.#isWatched = isWatched;
  }

  override get(name: string): V | undefined {
    this.#require(name);
    return super.get(name);
  }

  override has(name: string): boolean {
    this.#require(name);
    return super.has(name);
  }

  #require(name: string): void {
    if (!super.has(name) && !this.#isWatched(name))
      throw new Error(`${name} is not observed: the step or check that reads it must declare it in \`watches\``);
  }
}

/** The map of a probe that reads exactly these names. */
export const watchedMap = <V>(names: readonly string[], found: Iterable<readonly [string, V]>): WatchedMap<V> => {
  const known = new Set(names);
  return new WatchedMap(found, (name) => known.has(name));
};
