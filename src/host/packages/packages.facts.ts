import { daysLeft, RENEWED_AT_DAYS } from '../../certificates/validity.value.ts';
import { onceForEach } from '../../shell/memo.ts';
import { lines, numberOf, probe, probeInPlace } from '../../shell/probe.ts';
import { watchedMap } from '../../shell/watched.ts';
import { script } from '../../templates.ts';
import { installedPrograms } from './binaries.value.ts';
import { onHost } from './distributions.value.ts';
import { type KeyEnd, readKeyFile } from './openpgp.value.ts';
import type { PackageState } from './package-manager.value.ts';

/** A key file of a package repository on a host. */
export interface Keyring {
  /** Of all its primary keys; none where the file is no key file. */
  readonly fingerprints: readonly string[];
  /** When the first of its keys runs out. */
  readonly end: KeyEnd;
  /** When the file was written, in ms since 1970 by the host's clock. */
  readonly writtenMs: number;
}

/** A time as a day, `2026-12-29`. */
export const dayOf = (ms: number): string => new Date(ms).toISOString().slice(0, 10);

/** The day on which a key runs out, as `2026-12-29`, if it has 30 days left or fewer; else undefined. */
export const endingDay = (end: KeyEnd, nowMs: number): string | undefined =>
  typeof end === 'number' && daysLeft(end, nowMs) <= RENEWED_AT_DAYS ? dayOf(end) : undefined;

function read(data: Buffer): Omit<Keyring, 'writtenMs'> {
  try {
    const { keys } = readKeyFile(data);
    const ends = keys.map(({ end }) => end);
    const days = ends.filter((end) => typeof end === 'number');
    const end = days.length > 0 ? Math.min(...days) : ends.includes('unknown') ? 'unknown' : 'never';
    return { fingerprints: keys.map(({ fingerprint }) => fingerprint), end };
  } catch {
    return { fingerprints: [], end: 'unknown' };
  }
}

/** The given key files by path; those that are absent are left out. */
export const keyrings = (paths: readonly string[]) =>
  probeInPlace(script('host/packages/probe-keyrings.sh', { KEYRINGS: paths }), (out): ReadonlyMap<string, Keyring> => {
    const words = lines(out).map((line) => line.split(' '));
    const written = new Map(words.flatMap(([kind, path, time]) => (kind === 'written' ? [[path!, time]] : [])));
    return watchedMap(
      paths,
      words.flatMap(([kind, path = '', data = '']) => {
        if (kind !== 'data') return [];
        const writtenMs = numberOf(written.get(path), 'time') * 1000;
        return [[path, { ...read(Buffer.from(data, 'base64')), writtenMs }] as const];
      }),
    );
  });

/** Separates the output of the package manager from the programs that kbuild installed without it. */
const PROGRAMS = '--programs';

/**
 * Installed packages of the given names; a name that is not in the map is not installed. Programs that kbuild installed
 * without a package manager count as the package of their name.
 */
export const packages = onceForEach((names: readonly string[]) => {
  const { command, parse } = onHost(
    ({ packages, brought }) => packages?.installed(names) ?? brought?.(names),
    new Map<string, PackageState>(),
  );
  const script = `${command.script}\necho ${PROGRAMS}\n${installedPrograms.command.script}`;
  return probe({ ...command, script }, (out, asked): ReadonlyMap<string, PackageState> => {
    const end = `\n${out}`.lastIndexOf(`\n${PROGRAMS}\n`);
    const manager = end === -1 ? out : out.slice(0, end);
    const programs = end === -1 ? '' : out.slice(end + PROGRAMS.length + 1);
    return watchedMap(names, [...parse(manager, asked), ...installedPrograms.parse(programs, asked)]);
  });
});
