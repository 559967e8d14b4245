/** Real Windows programs, cross-compiled, and wine to run them. They are made when something asks for them, not by default. */
import { join } from 'node:path';
import { type Artifact, folderOf, isMade, make } from './artifact.ts';
import { requireAll } from './requirements.ts';
import { VERSIONS, versionOf } from './versions.ts';

/** Whether `lab build` makes them too. */
export const WINDOWS_WANTED = process.env['KBUILD_LAB_WINDOWS'] === 'programs';

/** Debian's packages that make and run them. */
const WINDOWS_PACKAGES = ['wine64', 'binutils-mingw-w64-x86-64'];

/** Gibibytes that they and what Go keeps of them take. */
const DISK_GIB = 8;

const MINOR = '1.36';
/** The one patch of that minor whose module can be had. */
const CRICTL = '1.36.0';
const TARGET = { GOOS: 'windows', GOARCH: 'amd64' } as const;

const program = (recipe: string, version: string): Artifact => ({
  name: `${recipe}-${version}`,
  recipe,
  params: { VERSION: `v${version}` },
  go: true,
});

const kubernetes = (name: string): Artifact => ({
  name: `windows-${name}-${versionOf(MINOR)}`,
  // The recipe of Linux: Go's own variables choose the system.
  recipe: 'kubernetes',
  params: { VERSION: `v${versionOf(MINOR)}`, PROGRAMS: name, ...TARGET },
  go: true,
});

/** Each program by its name on Windows, and wine; those that are made quickly first. */
const ARTIFACTS = {
  wine: { name: 'wine', recipe: 'wine' },
  'host-local.exe': program('windows-host-local', VERSIONS.cniPlugins),
  'crictl.exe': program('windows-crictl', CRICTL),
  'containerd.exe': program('windows-containerd', VERSIONS.containerd),
  'flanneld.exe': program('windows-flannel', VERSIONS.flannel),
  'kubeadm.exe': kubernetes('kubeadm'),
  'kubelet.exe': kubernetes('kubelet'),
  'kube-proxy.exe': kubernetes('kube-proxy'),
} as const satisfies Readonly<Record<string, Artifact>>;

/** A program that can be had. */
export type WindowsProgram = Exclude<keyof typeof ARTIFACTS, 'wine'>;

/** All programs. */
export const WINDOWS_PROGRAMS: readonly WindowsProgram[] = Object.keys(ARTIFACTS).filter(
  (name): name is WindowsProgram => name !== 'wine',
);

/** What is kept where everything else is thrown away. */
export const windowsArtifacts = (): readonly Artifact[] => Object.values(ARTIFACTS);

/** What there is. */
export interface WindowsPrograms {
  /** The Kubernetes version of kubeadm, the kubelet and kube-proxy. */
  readonly version: string;
  /** The prefix of wine that hosts get copies of. */
  readonly prefix: string;
  /** The file of a program on this machine. */
  readonly path: (name: WindowsProgram) => string;
}

const artifactsFor = (names: readonly WindowsProgram[]): readonly Artifact[] => [
  ARTIFACTS.wine,
  ...names.map((name) => ARTIFACTS[name]),
];

/** True if wine and these programs are in the cache: they can be run without building anything. */
export const areMade = (names: readonly WindowsProgram[]): boolean => artifactsFor(names).every(isMade);

/** Makes wine and these programs where they are missing: minutes each for the large ones. Throws Unmet for what the machine lacks. */
export async function windowsPrograms(names: readonly WindowsProgram[]): Promise<WindowsPrograms> {
  const builds = !areMade(names);
  await requireAll({ diskGib: builds ? DISK_GIB : 0, go: builds, packages: WINDOWS_PACKAGES });
  for (const artifact of artifactsFor(names)) await make(artifact);
  return {
    version: versionOf(MINOR),
    prefix: join(folderOf(ARTIFACTS.wine), 'prefix'),
    path: (name) => join(folderOf(ARTIFACTS[name]), isKubernetes(name) ? name.replace(/\.exe$/, '') : name),
  };
}

/** The recipe of Kubernetes names its programs as on Linux. */
const isKubernetes = (name: WindowsProgram): boolean => ARTIFACTS[name].recipe === 'kubernetes';
