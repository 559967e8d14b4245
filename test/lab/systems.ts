/** A system that is Debian 12 in another system's clothes: the userland is Debian's, what kbuild reads and calls is the other's. */
export interface Dressing {
  /** The folder below build/ with the script that dresses the tree; it gets `BASE`, the tree of Debian 12, and `DEBS`. */
  readonly recipe: string;
  /** Debian's packages with the programs of the other system. `DEBS` has them, and what they need. */
  readonly packages: string;
  /** Where the runtime comes from, if it is the system's own: the recipe of its tree, or of its repository, gets `CONTAINERD` and `DEBIAN`. */
  readonly runtimeIn?: 'tree' | 'repository';
  /** The recipe of the system's own package repository, where it has one: `REPOSITORY`. The web server serves it as the system's name. */
  readonly repository?: string;
}

/** One entry for each dressed system. */
export const DRESSED = {
  rocky9: {
    recipe: 'base-rocky9',
    packages: 'dnf dnf-plugins-core rpm rpm2cpio cpio gpg',
    repository: 'rocky-repository',
  },
  leap16: {
    recipe: 'base-leap16',
    packages: 'zypper rpm rpm2cpio cpio gpg',
    repository: 'leap-repository',
    runtimeIn: 'repository',
  },
  flatcar: { recipe: 'base-flatcar', packages: 'jq', runtimeIn: 'tree' },
} as const satisfies Readonly<Record<string, Dressing>>;

export type DressedSystem = keyof typeof DRESSED;

/** `arm64`: Debian 12, with a userland of arm64 under qemu-user. `selinux`: Debian 12 in a virtual machine (virtual-machine.ts). */
export type System = 'bookworm' | 'trixie' | 'arm64' | 'selinux' | DressedSystem;

/** The systems that hosts can be of, the default first. All but the default are made when a host of theirs is asked for. */
export const SYSTEMS: readonly ['bookworm', ...System[]] = [
  'bookworm',
  'trixie',
  'arm64',
  'selinux',
  ...(Object.keys(DRESSED) as readonly DressedSystem[]),
];
