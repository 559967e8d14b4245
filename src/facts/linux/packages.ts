import { sh } from '../../shell/sh.ts';
import { lines, probe } from '../probe.ts';

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
      new Map(
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

/** What `dpkg --audit` complains about; empty when all is well. */
export const dpkgAudit = probe(sh`if command -v dpkg >/dev/null; then dpkg --audit; fi`, (out) => out.trim());
