/** Denials of SELinux in a log, each kind once: the program, what it may not do, and to what. Sorted. */
export function denialsIn(log: string): readonly string[] {
  const found = [
    ...log.matchAll(/avc: +denied +\{ ([^}]*) \}.*? comm="([^"]*)".*? scontext=(\S+) tcontext=(\S+) tclass=(\S+)/g),
  ];
  const typeOf = (context = ''): string => context.split(':')[2] ?? context;
  return [
    ...new Set(
      found.map(
        ([, rights = '', program = '', source, target, kind = '']) =>
          `${program} (${typeOf(source)}): ${rights} of ${kind} ${typeOf(target)}`,
      ),
    ),
  ].toSorted();
}
