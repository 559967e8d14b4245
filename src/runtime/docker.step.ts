import { dirname } from 'node:path/posix';
import type { Step, Target, Unobserved } from '../engine/step.ts';
import { file } from '../host/file.step.ts';
import { packages } from '../host/packages/packages.step.ts';
import { programsOfRuntime, programUnits } from '../host/packages/programs.step.ts';
import { packageRepository } from '../host/packages/repository.step.ts';
import { proxyDropIn, service } from '../host/service.step.ts';
import type { Watches } from '../shell/watched.ts';
import { docker as runtime } from './docker.value.ts';
import { registries, runtimeProved } from './images.step.ts';
import { runtimePackages } from './runtimes.value.ts';
import { sharedSettingsChanges, sharedSettingsFiles } from './settings-file.step.ts';
import { installedRuntime } from './version.step.ts';

const { paths, unit, shared, companions } = runtime;
const settingsFiles = sharedSettingsFiles(shared!);

const watches = ({ inventory }: Unobserved): Watches => ({
  files: settingsFiles,
  packages: runtimePackages(inventory),
});

const major = (version: string): number => Number.parseInt(version, 10);

/**
 * The settings come before the package if Docker is not installed, because some packages start it at once; and if the
 * new one is older, which may not know all settings of the present one. Otherwise the installed Docker tries them after
 * the package.
 */
const isFirst = ({ inventory, facts }: Target): boolean => {
  const found = installedRuntime(inventory, facts);
  return found === undefined || major(found.upstream) > major(inventory.runtime.version);
};

const settingsFirst: Step = {
  name: 'docker-settings-first',
  watches,
  diff: (target) => (isFirst(target) ? sharedSettingsChanges(target) : []),
};

const settings: Step = {
  name: 'docker-settings',
  watches,
  diff: (target) => (settingsFirst.diff(target).length > 0 ? [] : sharedSettingsChanges(target)),
};

const proxy = proxyDropIn('docker-proxy', paths.proxy);
const units = programUnits('docker-cri-units');
const config = file('docker-cri-config', {
  path: paths.config,
  content: ({ inventory }) => runtime.configuration(inventory),
});

/**
 * Installs Docker Engine with kbuild's settings beside the operator's, and cri-dockerd, which implements CRI for it.
 */
export const docker: readonly Step[] = [
  ...packageRepository('docker', ({ runtime: { repository } }) => repository),
  settingsFirst,
  registries,
  proxy,
  packages(
    'docker-package',
    ({ inventory: { runtime: asked } }) => ({
      [asked.package]: asked.version,
      ...companions?.(asked.package, asked.version),
    }),
    {
      upgrades: 'held',
      // kubeadm asks the runtime by itself; an operator needs a client of CRI.
      optional: () => ['cri-tools'],
      sources: ['docker'],
    },
  ),
  programsOfRuntime('docker-cri-program'),
  units,
  config,
  settings,
  service(unit, { uses: [shared!.path, dirname(paths.proxy)], after: [settingsFirst, settings, proxy] }),
  service('cri-docker', {
    uses: [paths.config, ...paths.units!.map(({ path }) => path)],
    after: [units, config],
  }),
  runtimeProved,
];
