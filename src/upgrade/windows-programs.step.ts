import { standing } from '../cluster/standing.ts';
import { runsOnWindows } from '../engine/combinators.ts';
import type { Step, Target } from '../engine/step.ts';
import { windowsPaths } from '../paths.ts';
import type { On } from '../ssh/remote.ts';
import { powershell } from '../templates.ts';
import { WINDOWS_CRI_SOCKET } from '../windows/kubeadm.ts';
import { windowsImages } from '../windows/kubernetes.facts.ts';
import { isService } from '../windows/network/hns.step.ts';
import { install, installedVersion, installFrom, kubernetesRelease } from '../windows/programs.step.ts';
import type { Hop } from './hop.ts';
import { isBehind, isOlder } from './versions.ts';

/** A program of the release that an upgrade replaces on a Windows host. */
type ProgramName = 'kubeadm' | 'kubelet' | 'kube-proxy';

const programNames = (target: Target<'windows'>): readonly ProgramName[] => [
  'kubeadm',
  'kubelet',
  ...(isService(target) ? (['kube-proxy'] as const) : []),
];

/** True while the installed program is older than the hop, missing, or does not run. */
export const isOldProgram = (target: Target<'windows'>, name: ProgramName, { version }: Hop): boolean =>
  isOlder(installedVersion(target, name), version);

const placeOf = ({ version }: Hop, name: ProgramName): string => `${windowsPaths.upgrade}\\${version}\\${name}.exe`;

const downloads = { trees: [windowsPaths.upgrade] } as const;

/** Downloads the programs of a hop beside those that run. Installs nothing and restarts nothing. */
export const windowsFetched = (hop: Hop): Step<'windows'> => ({
  name: `fetched-${hop.version}`,
  watches: downloads,
  diff: (target) => {
    const { facts } = target;
    if (standing(target) !== 'joined' || !isBehind(target, hop)) return [];
    const missing = programNames(target).filter(
      (name) => isOldProgram(target, name, hop) && facts.files.at(placeOf(hop, name)) === undefined,
    );
    if (missing.length === 0) return [];
    return [
      {
        summary: `download ${missing.join(', ')} of Kubernetes ${hop.version} (found none)`,
        apply: async (on) => {
          for (const name of missing) {
            const release = kubernetesRelease(target, name, { version: hop.version, services: [] });
            await install(on, target, { ...release, target: placeOf(hop, name) }, `download ${name} ${hop.version}`);
          }
        },
      },
    ];
  },
});

/** The file that records that a Windows host has the images of a hop. */
const imagesRecord = ({ version }: Hop): string => `${windowsPaths.upgrade}\\${version}\\images.txt`;

/**
 * Pulls the images that pods of a Windows host need at a hop, so that no host that is away waits for a registry.
 * Restarts nothing.
 */
export const windowsImagesFetched = (hop: Hop): Step<'windows'> => ({
  name: `images-${hop.version}`,
  watches: downloads,
  diff: (target) => {
    const { inventory, host, facts } = target;
    if (standing(target) !== 'joined' || !isBehind(target, hop) || facts.files.at(imagesRecord(hop)) !== undefined)
      return [];
    const images = windowsImages(inventory, host);
    const command = powershell('windows/pull-images.ps1', {
      Images: images,
      Crictl: `${windowsPaths.programs}\\crictl.exe`,
      Endpoint: WINDOWS_CRI_SOCKET,
      Record: imagesRecord(hop),
    });
    return [
      {
        summary: `pull ${images.join(', ')}, as far as they are missing`,
        apply: async (on) => {
          await on(host).job('images', { ...command, title: 'pull images' });
        },
      },
    ];
  },
});

/**
 * Stops the service of a program, if it has one, and puts the program of the hop in its place. The service stays
 * stopped.
 */
export async function replaceProgram(target: Target<'windows'>, hop: Hop, on: On, name: ProgramName): Promise<void> {
  const services = name === 'kubeadm' ? [] : [name];
  const release = kubernetesRelease(target, name, { version: hop.version, services });
  const file = target.facts.files.at(placeOf(hop, name));
  // A drained host whose run was cut off may have lost it.
  if (file?.kind === 'file') await installFrom(on, target, release, file);
  else await install(on, target, release);
}

/** Installs kubeadm of the hop. Nothing else on the host changes. */
export const windowsKubeadmProgram = (hop: Hop): Step<'windows'> => ({
  name: 'kubeadm-program',
  watches: downloads,
  diff: (target) => {
    if (standing(target) !== 'joined' || !isOldProgram(target, 'kubeadm', hop)) return [];
    return [
      {
        summary: `install kubeadm ${hop.version} (found ${installedVersion(target, 'kubeadm') ?? 'none that runs'})`,
        apply: (on) => replaceProgram(target, hop, on, 'kubeadm'),
      },
    ];
  },
});

/** Removes what was downloaded for the upgrade. */
export const windowsNothingFetched = (hop: Hop): Step<'windows'> => ({
  name: 'downloads-forgotten',
  watches: { ...downloads, files: [windowsPaths.upgrade] },
  diff: (target) => {
    const { host, facts } = target;
    const isThere = facts.files.at(windowsPaths.upgrade) !== undefined;
    if (!isThere && !(standing(target) === 'joined' && isBehind(target, hop))) return [];
    return [
      {
        summary: `remove ${windowsPaths.upgrade} from ${host.name}`,
        apply: runsOnWindows(host, powershell('windows/remove-paths.ps1', { Paths: [windowsPaths.upgrade] })),
      },
    ];
  },
});
