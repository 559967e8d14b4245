import { compareVersions, minorOf } from '../versions.ts';

/** The way of an upgrade, and what is not known about it. */
export interface Hops {
  /** Versions in order, one a minor, the last is the desired one; a missing minor is left out. */
  readonly hops: readonly string[];
  /** Minors in between for which no patch version was given, oldest first. */
  readonly missing: readonly string[];
}

const numbers = (version: string): readonly [number, number] => {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  return [major, minor];
};

const newest = (versions: readonly string[]): string | undefined => versions.toSorted(compareVersions).at(-1);

/**
 * The versions through which an upgrade goes, because kubeadm and API servers move one minor at a time. `via`: versions for
 * the minors in between; of several for one minor the newest counts, others are ignored. `begun`: versions to which an upgrade has begun; in
 * between they count before all others, for what was begun is finished as it was begun. Versions without `v`. No hops if the versions are equal, or
 * if `to` is older.
 */
export function hopsOf(from: string, to: string, via: readonly string[], begun: readonly string[] = []): Hops {
  const of = (versions: readonly string[], minor: string): string | undefined =>
    newest(versions.filter((version) => minorOf(version) === minor));
  if (compareVersions(from, to) >= 0) return { hops: [], missing: [] };
  const [major, first] = numbers(from);
  const [, last] = numbers(to);
  const between = Array.from({ length: Math.max(0, last - first - 1) }, (_, i) => {
    const minor = `${String(major)}.${String(first + 1 + i)}`;
    return { minor, version: of(begun, minor) ?? of(via, minor) };
  });
  return {
    hops: [...between.flatMap(({ version }) => version ?? []), to],
    missing: between.filter(({ version }) => version === undefined).map(({ minor }) => minor),
  };
}
