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

/** An Ubuntu that is Debian in its clothes: apt and dpkg stay, with an archive of its own. */
export interface Ubuntu {
  /** As in its os-release, with the point release. */
  readonly version: string;
  readonly nickname: string;
  /** The Debian whose userland it has. */
  readonly on: 'bookworm' | 'trixie';
  /** Debian's packages with the programs that a server of a cloud has, beside `UBUNTU_PACKAGES`. */
  readonly packages: string;
}

const UBUNTU_PACKAGES =
  'apparmor cloud-init fail2ban python3-systemd lsb-release needrestart netplan.io snapd systemd-resolved ufw unattended-upgrades';

/** The dressed Ubuntus, by codename. */
export const UBUNTU = {
  jammy: { version: '22.04.5', nickname: 'Jammy Jellyfish', on: 'bookworm', packages: UBUNTU_PACKAGES },
  noble: { version: '24.04.3', nickname: 'Noble Numbat', on: 'bookworm', packages: UBUNTU_PACKAGES },
  resolute: {
    ...{ version: '26.04', nickname: 'Resolute Raccoon', on: 'trixie' },
    packages: `${UBUNTU_PACKAGES} sudo-rs rust-coreutils`,
  },
} as const satisfies Readonly<Record<string, Ubuntu>>;

export type UbuntuSystem = keyof typeof UBUNTU;

/** Whether hosts of that system are a dressed Ubuntu. */
export const isUbuntu = (os: System): os is UbuntuSystem => os in UBUNTU;

/** `arm64`: Debian 12, with a userland of arm64 under qemu-user. `selinux`: Debian 12 in a virtual machine (virtual-machine.ts). */
export type System = 'bookworm' | 'trixie' | 'arm64' | 'selinux' | DressedSystem | UbuntuSystem;

/** The systems that hosts can be of, the default first. All but the default are made when a host of theirs is asked for. */
export const SYSTEMS: readonly ['bookworm', ...System[]] = [
  'bookworm',
  'trixie',
  'arm64',
  'selinux',
  ...(Object.keys(DRESSED) as readonly DressedSystem[]),
  ...(Object.keys(UBUNTU) as readonly UbuntuSystem[]),
];
