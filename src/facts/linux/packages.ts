import { sh } from '../../shell/sh.ts';
import { lines, probe } from '../../shell/probe.ts';
import { watchedMap } from '../watched.ts';

/** One Debian package. `half` is anything between installed and not installed. */
export interface PackageState {
  readonly state: 'installed' | 'half';
  readonly version: string;
  readonly held: boolean;
}

/** Installed packages of the given names; a name that is not in the map is not installed. */
export const packages = (names: readonly string[]) =>
  probe(
    sh`dpkg-query -W -f '\${Package} \${Version} \${Status}\n' ${names} 2>/dev/null || true`,
    (out): ReadonlyMap<string, PackageState> =>
      watchedMap(
        names,
        lines(out).flatMap((line) => {
          const [name, version, want, , state] = line.split(' ');
          if (state === 'not-installed' || state === 'config-files') return [];
          return [
            [
              name!,
              { state: state === 'installed' ? 'installed' : 'half', version: version!, held: want === 'hold' },
            ] as const,
          ];
        }),
      ),
  );

/** A package that some transaction left between installed and not installed. */
export interface BrokenPackage {
  readonly name: string;
  /** dpkg's word for it, e.g. `half-configured`; `reinst-required` when its files may be anything. */
  readonly state: string;
}

/**
 * Packages of any name that are neither installed nor removed. By status, because `dpkg --audit` also complains for good
 * about packages that were built without checksums.
 */
export const brokenPackages = probe(
  sh`if command -v dpkg-query >/dev/null; then dpkg-query -W -f '\${db:Status-Status} \${db:Status-Eflag} \${Package}\n'; fi`,
  (out): readonly BrokenPackage[] =>
    lines(out).flatMap((line) => {
      const [status, error, name] = line.split(' ');
      if (error === 'reinstreq') return [{ name: name!, state: 'reinst-required' }];
      return /^(?:installed|config-files|not-installed)$/.test(status!) ? [] : [{ name: name!, state: status! }];
    }),
);
