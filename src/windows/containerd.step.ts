import { stringify } from 'smol-toml';
import { hasKubelet } from '../cluster/fleet/joined.ts';
import { when } from '../engine/combinators.ts';
import type { Change, Step, Target } from '../engine/step.ts';
import type { WindowsHost } from '../inventory/inventory.ts';
import { OWN_HEADER, windowsPaths } from '../paths.ts';
import { registryFiles } from '../runtime/registries.value.ts';
import { compareVersions } from '../versions.ts';
import { proxyEnvironment } from './environment.step.ts';
import { windowsFile, windowsFolderChanges } from './file.step.ts';
import { installedVersion, program, VERSION_ARGUMENTS } from './programs.step.ts';
import { windowsService } from './service.step.ts';

/**
 * The complete configuration of containerd 2.x on a Windows host (file version 3). It lists no runtimes: containerd
 * defines runhcs-wcow-process and runhcs-wcow-hypervisor itself. From 2.1 on, `bin_dirs` replaces `bin_dir`. If both
 * are set, containerd does not start.
 */
export function windowsContainerdConfig({ windows }: WindowsHost): string {
  const bin = windowsPaths.cniBin;
  const cni = compareVersions(windows.containerd.version, '2.1.0') >= 0 ? { bin_dirs: [bin] } : { bin_dir: bin };
  return stringify({
    version: 3,
    root: `${windowsPaths.containerdData}\\root`,
    state: `${windowsPaths.containerdData}\\state`,
    grpc: { address: windowsPaths.containerdPipe },
    plugins: {
      'io.containerd.cri.v1.images': {
        pinned_images: { sandbox: windows.pauseImage },
        registry: { config_path: windowsPaths.certsD },
      },
      'io.containerd.cri.v1.runtime': { cni: { ...cni, conf_dir: windowsPaths.cniConfig } },
    },
  });
}

const OBSERVED = { name: 'containerd', path: `${windowsPaths.containerd}\\containerd.exe`, ...VERSION_ARGUMENTS };

const containerdProgram = program(OBSERVED, ({ host }) => {
  const { downloads, containerd } = host.windows;
  const url = `${downloads.containerd}/containerd-${containerd.version}-windows-amd64.tar.gz`;
  return {
    name: 'containerd',
    version: containerd.version,
    url,
    sumUrl: `${url}.sha256sum`,
    target: windowsPaths.containerd,
    strip: 1,
    services: ['containerd'],
    last: 'containerd.exe',
    crictl: `${windowsPaths.programs}\\crictl.exe`,
  };
});

const registries: Step<'windows'> = {
  name: 'registries',
  watches: { trees: [windowsPaths.certsD] },
  diff: (target) => {
    const root = `${windowsPaths.certsD}\\`;
    return windowsFolderChanges(target, root, registryFiles(target.inventory.runtime.registries, root, '\\'));
  },
};

const watches = { units: ['containerd'], files: [windowsPaths.containerdConfig] };

const service = windowsService('containerd-service', watches, ({ inventory }) => ({
  name: 'containerd',
  displayName: 'containerd',
  path:
    `"${windowsPaths.containerd}\\containerd.exe" --run-service --config "${windowsPaths.containerdConfig}" ` +
    `--log-file "${windowsPaths.containerdData}\\containerd.log"`,
  dependsOn: [],
  environment: proxyEnvironment(inventory),
  parameters: [],
  wanted: 'running',
  uses: [windowsPaths.containerdConfig],
}));

/** Waits until containerd listens at its named pipe. */
const listens: Step<'windows'> = {
  name: 'containerd-listens',
  settleMs: 2 * 60_000,
  diff: ({ facts }) =>
    facts.runtimeListens ? [] : [{ summary: `wait until containerd listens at ${windowsPaths.containerdPipe}` }],
};

/** The steps of containerd, with this one for its program. */
const steps = (theProgram: Step<'windows'>): readonly Step<'windows'>[] => [
  windowsFile(
    'containerd-config',
    windowsPaths.containerdConfig,
    ({ host }) => `${OWN_HEADER}.\n${windowsContainerdConfig(host)}`,
  ),
  registries,
  theProgram,
  service,
  listens,
];

/**
 * Installs containerd as a Windows service, with kbuild's configuration. The node of a host that has joined must be
 * drained.
 */
export const windowsContainerd: readonly Step<'windows'>[] = steps(containerdProgram);

/**
 * What replaces the containerd of a host that has joined; empty if it has the version of the inventory, or none that
 * runs.
 */
export const containerdChanges = (target: Target<'windows'>): readonly Change[] =>
  hasKubelet(target.facts) && installedVersion(target, OBSERVED.name) !== undefined
    ? containerdProgram.diff(target)
    : [];

/** Like `windowsContainerd`, but leaves a containerd that runs pods to the phase that drains their node. */
export const windowsContainerdAtRest: readonly Step<'windows'>[] = steps(
  when((target) => containerdChanges(target).length === 0, containerdProgram),
);

/** The program of containerd on a host whose node is drained, and what proves that it runs. */
export const containerdReplaced: readonly Step<'windows'>[] = [
  { ...containerdProgram, diff: containerdChanges },
  service,
  listens,
];
