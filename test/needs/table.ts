/**
 * What a test may need of the machine, each need a tag of vitest:
 *
 *     test('groff accepts each page', { tags: ['groff'] }, () => …)   also describe, and .each
 *     // @module-tag sshd                                             all tests of a file
 *
 * Where a need is unmet, its tests are skipped by name, with the reason. With `KBUILD_REQUIRE=all` they fail instead, with the same
 * reason (`require-all.ts`). `skip-reporter.ts` collects the reasons. There is no other way to skip a test: `needs.test.ts`.
 */
import { accessSync, constants, statSync } from 'node:fs';
import { networkInterfaces, userInfo } from 'node:os';
import { delimiter, join } from 'node:path';

interface Program {
  /** Names or paths; the first that this machine has is used. */
  readonly names: readonly string[];
  readonly apt: string;
  /** Missing where Homebrew has none. */
  readonly brew?: string;
}

/** Programs beside Node, npm and what every POSIX system has. */
const PROGRAMS = {
  age: { names: ['age'], apt: 'age', brew: 'age' },
  bash: { names: ['bash'], apt: 'bash', brew: 'bash' },
  busybox: { names: ['busybox'], apt: 'busybox-static' },
  chromium: {
    names: [
      ...['chromium', 'chromium-browser', 'google-chrome'],
      ...['Chromium', 'Google Chrome'].map((name) => `/Applications/${name}.app/Contents/MacOS/${name}`),
    ],
    apt: 'chromium fonts-dejavu-core',
    brew: 'chromium',
  },
  csh: { names: ['csh'], apt: 'tcsh', brew: 'tcsh-shell' },
  curl: { names: ['curl'], apt: 'curl', brew: 'curl' },
  dash: { names: ['dash'], apt: 'dash', brew: 'dash' },
  flock: { names: ['flock'], apt: 'util-linux' },
  fish: { names: ['fish'], apt: 'fish', brew: 'fish' },
  gpg: { names: ['gpg'], apt: 'gnupg', brew: 'gnupg' },
  groff: { names: ['groff'], apt: 'groff-base', brew: 'groff' },
  mandoc: { names: ['mandoc'], apt: 'mandoc', brew: 'mandoc' },
  openssl: { names: ['openssl'], apt: 'openssl', brew: 'openssl' },
  python3: { names: ['python3'], apt: 'python3', brew: 'python' },
  script: { names: ['script'], apt: 'bsdutils' },
  shellcheck: { names: ['shellcheck'], apt: 'shellcheck', brew: 'shellcheck' },
  ssh: { names: ['ssh'], apt: 'openssh-client', brew: 'openssh' },
  sshd: { names: ['sshd'], apt: 'openssh-server', brew: 'openssh' },
  tmux: { names: ['tmux'], apt: 'tmux', brew: 'tmux' },
  zsh: { names: ['zsh'], apt: 'zsh', brew: 'zsh' },
} as const satisfies Readonly<Record<string, Program>>;

/** What no package brings. */
const CONDITIONS = {
  linux: () =>
    process.platform === 'linux'
      ? undefined
      : `needs Linux and its userland, as the hosts have them (found ${process.platform})`,
  root: () => (process.geteuid?.() === 0 ? undefined : `needs root (found ${userInfo().username})`),
  'ordinary-user': () => (process.geteuid?.() === 0 ? 'needs an ordinary user (found root)' : undefined),
  address: () =>
    Object.values(networkInterfaces()).some((all = []) =>
      all.some(({ family, internal }) => family === 'IPv4' && !internal),
    )
      ? undefined
      : 'needs an IPv4 address that other machines reach (found none but that of the loopback interface)',
} as const satisfies Readonly<Record<string, () => string | undefined>>;

export type ProgramName = keyof typeof PROGRAMS;
export type Need = ProgramName | keyof typeof CONDITIONS;

declare module 'vitest' {
  interface TestTags {
    tags: Need;
  }
}

/** How a need is unmet. */
export interface Unmet {
  /** `needs mandoc (not installed)`. */
  readonly reason: string;
  /** The program to be installed; undefined where no package helps. */
  readonly program?: ProgramName;
}

/** Where daemons are, which the PATH of an ordinary user often lacks. */
const SYSTEM_FOLDERS = ['/usr/sbin', '/usr/local/sbin', '/sbin'];

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}

/** The absolute path of a program in PATH or where daemons are; undefined: this machine has none of that name. */
export function findProgram(name: string): string | undefined {
  if (name.startsWith('/')) return isProgram(name) ? name : undefined;
  const folders = [...(process.env['PATH'] ?? '').split(delimiter), ...SYSTEM_FOLDERS].filter((one) => one !== '');
  return folders.map((folder) => join(folder, name)).find(isProgram);
}

/** The absolute path of a program that every POSIX system has. @throws Error where it is missing. */
export function requireProgram(name: string): string {
  const path = findProgram(name);
  if (path === undefined) throw new Error(`this machine has no ${name}`);
  return path;
}

const program = (name: ProgramName): Program => PROGRAMS[name];

/** The absolute path of a program that tests may need. @throws Error with the reason where it is missing. */
export function pathOf(name: ProgramName): string {
  const path = program(name)
    .names.map(findProgram)
    .find((one) => one !== undefined);
  if (path === undefined) throw new Error(`needs ${name} (not installed)`);
  return path;
}

const isProgramName = (need: Need): need is ProgramName => need in PROGRAMS;

/** The needs that tests may have. */
export const NEEDS: readonly Need[] = [
  ...(Object.keys(PROGRAMS) as ProgramName[]),
  ...(Object.keys(CONDITIONS) as (keyof typeof CONDITIONS)[]),
];

/** Why this machine does not meet a need; undefined where it does. */
export function unmet(need: Need): Unmet | undefined {
  if (!isProgramName(need)) {
    const reason = CONDITIONS[need]();
    return reason === undefined ? undefined : { reason };
  }
  if (program(need).names.some((name) => findProgram(name) !== undefined)) return undefined;
  return { reason: `needs ${need} (not installed)`, program: need };
}

/** All packages that have the programs, for one manager. */
export const packagesOf = (
  manager: 'apt' | 'brew',
  names: readonly ProgramName[] = Object.keys(PROGRAMS) as ProgramName[],
): readonly string[] => [...new Set(names.flatMap((name) => program(name)[manager]?.split(' ') ?? []))];

/** The one command that installs programs here; undefined where there is none. */
export function installCommand(
  names: readonly ProgramName[],
  platform: NodeJS.Platform = process.platform,
): string | undefined {
  if (names.length === 0) return undefined;
  if (platform === 'darwin') {
    const packages = packagesOf('brew', names);
    return packages.length === 0 ? undefined : `brew install ${packages.join(' ')}`;
  }
  const command = `apt-get install -y --no-install-recommends ${packagesOf('apt', names).join(' ')}`;
  if (findProgram('apt-get') === undefined) return undefined;
  return process.geteuid?.() === 0 ? command : `sudo ${command}`;
}

/** True where a test that cannot run fails, rather than being skipped. */
export const isAllRequired = (): boolean => process.env['KBUILD_REQUIRE'] === 'all';
