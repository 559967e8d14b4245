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
  /** systemd units: services without `.service`, timers with `.timer`; on Windows services. */
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

/** Lists of names: all but the programs. */
type NameList = Exclude<keyof Watches, 'programs'>;

/**
 * Unites what several steps and checks watch on a host. It runs for every step of every host before the first probe, so
 * it visits only the lists that each declares.
 */
export function united(all: Iterable<Watches>): Watched {
  const names: Record<NameList, Set<string>> = {
    files: new Set(),
    trees: new Set(),
    packages: new Set(),
    units: new Set(),
    keyrings: new Set(),
    features: new Set(),
    firewallRules: new Set(),
    variables: new Set(),
    access: new Set(),
  };
  const byName = new Map<string, VersionedProgram>();
  for (const { programs = [], ...lists } of all) {
    for (const program of programs) byName.set(program.name, program);
    for (const list of Object.keys(lists) as NameList[]) for (const name of lists[list] ?? []) names[list].add(name);
  }
  return {
    files: [...names.files],
    trees: [...names.trees],
    packages: [...names.packages],
    units: [...names.units],
    keyrings: [...names.keyrings],
    features: [...names.features],
    programs: [...byName.values()],
    firewallRules: [...names.firewallRules],
    variables: [...names.variables],
    access: [...names.access],
  };
}

/**
 * The observed state of things that a host's probes read by name. Reading a name that no probe reads throws a plain
 * `Error` (a bug): its absence would be a guess.
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
