import { compareVersions, minorOf, supportedMinors } from '../versions.ts';

/** The versions of an upgrade in order, and the minors between them for which none is known. */
export interface Hops {
  readonly hops: readonly string[];
  readonly missing: readonly string[];
}

/** The versions from `from` to `to`, one a minor. `via`: the versions of minors in between. */
export function hopsOf(from: string, to: string, via: readonly string[]): Hops {
  if (compareVersions(from, to) >= 0) return { hops: [], missing: [] };
  const between = supportedMinors.filter(
    (minor) => compareVersions(minor, minorOf(from)) > 0 && compareVersions(minor, minorOf(to)) < 0,
  );
  const found = between.map((minor) => via.find((version) => minorOf(version) === minor) ?? minor);
  return {
    hops: [...found.filter((version) => version.split('.').length === 3), to],
    missing: found.filter((version) => version.split('.').length === 2),
  };
}
