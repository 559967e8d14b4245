import { Refused } from '../errors.ts';
import type { OsRelease } from '../facts/linux/machine.ts';
import { debian, ubuntu } from './debian.ts';
import type { Os } from './os.ts';

/** Every distribution that kbuild knows. */
export const knownOs: readonly Os[] = [debian, ubuntu];

/** The distribution and version of a host, when kbuild supports it. */
export const supportedOs = ({ osRelease }: { readonly osRelease: OsRelease }): Os | undefined =>
  knownOs.find(({ id, versions }) => id === osRelease.id && versions.includes(osRelease.versionId));

/** The distribution of a host. Throws `Refused` where kbuild has no support for it (the check `os-supported` stops earlier). */
export function osOf(host: { readonly name: string }, facts: { readonly osRelease: OsRelease }): Os {
  const os = supportedOs(facts);
  if (os === undefined) throw new Refused(host.name, `${facts.osRelease.prettyName} is not yet supported`);
  return os;
}
