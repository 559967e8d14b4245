import type { Artifact } from './artifact.ts';
import type { Keys } from './keys.ts';
import { GATEWAY, PACKAGES_URL } from './network-plan.ts';
import { paths } from './paths.ts';
import type { Mirrors } from './recipes.ts';
import { VERSIONS } from './versions.ts';
import { DRESSED, type DressedSystem, type Dressing, UBUNTU, type Ubuntu, type UbuntuSystem } from './systems.ts';

/** What a dressed system is made of. */
export interface Dressed {
  readonly base: Artifact;
  /** The system's own package repository; undefined where it has none. */
  readonly repository: Artifact | undefined;
}

/** The systems that `base`, the tree of Debian 12, is dressed as. */
export function dressedSystems(
  base: Artifact,
  { debian, security }: Mirrors,
  keys: Keys,
  runtime: { readonly CONTAINERD: Artifact; readonly DEBIAN: Artifact },
): Readonly<Record<DressedSystem, Dressed>> {
  const settings = { GNUPGHOME: paths.gnupg };
  const made = ([os, dressing]: readonly [string, Dressing]): readonly [string, Dressed] => {
    const { runtimeIn } = dressing;
    const debs: Artifact = {
      ...{ name: `debs-${os}`, recipe: 'debs', needs: { BASE: base } },
      params: { PACKAGES: dressing.packages },
      settings: { MIRROR: debian, SECURITY: security },
    };
    const repository: Artifact | undefined =
      dressing.repository === undefined
        ? undefined
        : {
            ...{ name: dressing.repository, recipe: dressing.repository, shared: ['rpm.sh', 'libraries.sh'], settings },
            params: { KEY: keys.rpm, ...(runtimeIn === 'repository' ? { VERSION: VERSIONS.containerd } : {}) },
            needs: { BASE: base, DEBS: debs, ...(runtimeIn === 'repository' ? runtime : {}) },
          };
    const tree: Artifact = {
      ...{ name: `base-${os}`, recipe: dressing.recipe, shared: ['dress.sh'] },
      params: { PACKAGES_URL },
      needs: {
        BASE: base,
        DEBS: debs,
        ...(repository === undefined ? {} : { REPOSITORY: repository }),
        ...(runtimeIn === 'tree' ? runtime : {}),
      },
    };
    return [os, { base: tree, repository }];
  };
  return Object.fromEntries(Object.entries(DRESSED).map(made)) as Readonly<Record<DressedSystem, Dressed>>;
}

/** The Ubuntus, of the trees of both Debians. `DEBIAN`: Debian 12's archive; `CONTAINERD`: Docker's repository for Debian 12. */
export function ubuntuSystems(
  bases: Readonly<Record<Ubuntu['on'], Artifact>>,
  { debian, security }: Mirrors,
  keys: Keys,
  { DEBIAN, CONTAINERD }: { readonly DEBIAN: Artifact; readonly CONTAINERD: Artifact },
): Readonly<Record<UbuntuSystem, Dressed>> {
  const made = ([CODENAME, { version, nickname, on, packages }]: readonly [string, Ubuntu]): readonly [
    string,
    Dressed,
  ] => {
    const base = bases[on];
    const debs: Artifact = {
      ...{ name: `debs-${CODENAME}`, recipe: 'debs', needs: { BASE: base } },
      params: { PACKAGES: packages, SUITE: on },
      settings: { MIRROR: debian, SECURITY: security },
    };
    const repository: Artifact = {
      ...{ name: `ubuntu-repository-${CODENAME}`, recipe: 'ubuntu-repository', shared: ['docker-index.sh'] },
      params: { CODENAME, VERSION: version, KEY: keys.containerd, ARCHIVE_KEY: keys.debian },
      // What hosts of Debian 12 can install is no part of what a userland of Debian 13 could.
      needs: { DEBS: debs, CONTAINERD, ...(on === 'bookworm' ? { DEBIAN } : {}) },
      settings: { GNUPGHOME: paths.gnupg },
    };
    const tree: Artifact = {
      ...{ name: `base-${CODENAME}`, recipe: 'base-ubuntu', shared: ['dress.sh'] },
      params: { CODENAME, VERSION: version, NICKNAME: nickname, PACKAGES_URL, GATEWAY },
      needs: { BASE: base, DEBS: debs, REPOSITORY: repository },
    };
    return [CODENAME, { base: tree, repository }];
  };
  return Object.fromEntries(Object.entries(UBUNTU).map(made)) as Readonly<Record<UbuntuSystem, Dressed>>;
}
