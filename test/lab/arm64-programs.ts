/** Programs for arm64, cross-compiled. They are made when something asks for them, not by default. */
import { type Artifact, folderOf, isMade, make } from './artifact.ts';
import { requireAll } from './requirements.ts';
import { VERSIONS, versionOf } from './versions.ts';

/** Gibibytes that they and what Go keeps of them take. */
const DISK_GIB = 6;

const MINOR = '1.36';

/** The recipes are those of amd64: Go's own variables choose the architecture. */
const program = (recipe: string, version: string, params: Readonly<Record<string, string>> = {}): Artifact => ({
  name: ['arm64', params['PROGRAMS'] ?? recipe, version].join('-'),
  recipe,
  params: { VERSION: `v${version}`, ...params, GOOS: 'linux', GOARCH: 'arm64' },
  go: true,
});

const standIn = (GOARCH: string): Artifact => ({
  name: `stand-in-${GOARCH}`,
  recipe: 'stand-in',
  params: { VERSION: `v${versionOf(MINOR)}`, GOOS: 'linux', GOARCH },
  go: true,
});

/** Programs of Kubernetes for arm64: compiling them takes longer than all else, so stand-ins serve where they are not there. */
const KUBERNETES = ['kubectl', 'kubeadm', 'kubelet'] as const;
const kubernetes = (PROGRAMS: string): Artifact => program('kubernetes', versionOf(MINOR), { PROGRAMS });

const ARTIFACTS = {
  crictl: program('crictl', VERSIONS.crictl),
  plugins: program('cni-plugins', VERSIONS.cniPlugins),
  standInAmd64: standIn('amd64'),
  standInArm64: standIn('arm64'),
} as const satisfies Readonly<Record<string, Artifact>>;

/** Whether `lab build` makes the programs of Kubernetes too. */
export const ARM64_WANTED = process.env['KBUILD_LAB_ARM64'] === 'programs';

/** What is kept where everything else is thrown away. */
export const arm64Artifacts = (): readonly Artifact[] => [...Object.values(ARTIFACTS), ...KUBERNETES.map(kubernetes)];

/** Folders of programs. */
export interface Arm64Programs {
  /** Version of Kubernetes. */
  readonly version: string;
  readonly minor: string;
  readonly crictl: string;
  readonly plugins: string;
  /** kubeadm, kubelet and kubectl by Go's name of the architecture; those of arm64 are real where they are in the cache. */
  readonly kubernetes: (architecture: 'amd64' | 'arm64', name: (typeof KUBERNETES)[number]) => string;
}

/** Makes the programs that are missing. `all`: those of Kubernetes too. Throws Unmet for what the machine lacks. */
export async function arm64Programs({ all = false } = {}): Promise<Arm64Programs> {
  const wanted = all ? arm64Artifacts() : Object.values(ARTIFACTS);
  const builds = !wanted.every(isMade);
  await requireAll({ diskGib: builds ? DISK_GIB : 0, go: builds });
  for (const artifact of wanted) await make(artifact);
  return {
    version: versionOf(MINOR),
    minor: MINOR,
    crictl: folderOf(ARTIFACTS.crictl),
    plugins: folderOf(ARTIFACTS.plugins),
    kubernetes: (architecture, name) => {
      const real = kubernetes(name);
      if (architecture === 'amd64') return folderOf(ARTIFACTS.standInAmd64);
      return folderOf(isMade(real) ? real : ARTIFACTS.standInArm64);
    },
  };
}
