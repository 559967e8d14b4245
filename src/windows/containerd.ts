import type { Change, Step, Target } from '../engine/step.ts';
import { hasKubelet } from '../facts/joined.ts';
import { OWN_HEADER, windowsPaths } from '../paths.ts';
import { registryFiles } from '../components/runtimes/hosts-toml.ts';
import { windowsFile, windowsFolderChanges } from '../resources/windows-file.ts';
import { windowsService } from '../resources/windows-service.ts';
import { windowsContainerdConfig } from './containerd-config.ts';
import { proxyEnvironment } from './environment.ts';
import { installedVersion, program, VERSION_ARGUMENTS } from './programs.ts';

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
  path: `"${windowsPaths.containerd}\\containerd.exe" --run-service --config "${windowsPaths.containerdConfig}" --log-file "${windowsPaths.containerdData}\\containerd.log"`,
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

/** Installs containerd as a Windows service, with kbuild's configuration. The node of a host that has joined must be drained. */
export const windowsContainerd: readonly Step<'windows'>[] = steps(containerdProgram);

/** What replaces the containerd of a host that has joined; empty if it has the version of the inventory, or none that runs. */
export const containerdChanges = (target: Target<'windows'>): readonly Change[] =>
  hasKubelet(target.facts) && installedVersion(target, OBSERVED.name) !== undefined
    ? containerdProgram.diff(target)
    : [];

/** Like `windowsContainerd`, but leaves a containerd that runs pods to the phase that drains their node. */
export const windowsContainerdAtRest: readonly Step<'windows'>[] = steps({
  ...containerdProgram,
  diff: (target) => (containerdChanges(target).length > 0 ? [] : containerdProgram.diff(target)),
});

/** The program of containerd on a host whose node is drained, and what proves that it runs. */
export const containerdReplaced: readonly Step<'windows'>[] = [
  { ...containerdProgram, diff: containerdChanges },
  service,
  listens,
];
