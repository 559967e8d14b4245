import { dirname } from 'node:path/posix';
import type { Step, Target, Unobserved } from '../engine/step.ts';
import { fileChanges, type WantedFile } from '../host/file.step.ts';
import { systemRuntime } from '../host/packages/installer.value.ts';
import { packages } from '../host/packages/packages.step.ts';
import { runtimeUnit } from '../host/packages/programs.step.ts';
import { packageRepository } from '../host/packages/repository.step.ts';
import { proxyDropIn, service } from '../host/service.step.ts';
import type { Watches } from '../shell/watched.ts';
import { containerd as runtime } from './containerd.value.ts';
import { handlerSteps } from './handlers.step.ts';
import { registries, runtimeProved } from './images.step.ts';
import { runtimePackages } from './runtimes.value.ts';
import { installedRuntime } from './version.step.ts';

const { paths, unit } = runtime;

const watches = ({ inventory }: Unobserved): Watches => ({
  files: [paths.config],
  packages: runtimePackages(inventory),
});

const major = (version: string): number => Number.parseInt(version, 10);

const wanted = ({ inventory }: Target): WantedFile => ({
  path: paths.config,
  content: runtime.configuration(inventory),
  ...(paths.backup === undefined ? {} : { backup: paths.backup }),
  // containerd, if it is installed, checks the user's own settings.
  validate: runtime.validate,
});

/**
 * Writes the configuration before the package, in two cases. If no containerd is installed, the service starts with it
 * the first time; not where the system's own package comes, whose version is still unknown: it starts nothing, and
 * overwrites the file. If the new containerd has an older major version, it cannot read the present configuration.
 */
const configFirst: Step = {
  name: 'containerd-config-first',
  watches,
  diff: (target) => {
    const found = installedRuntime(target.inventory, target.facts);
    const isFirst =
      found === undefined
        ? systemRuntime(target, ['containerd']) === undefined
        : major(found.upstream) > major(target.inventory.runtime.version);
    return isFirst ? fileChanges(target, wanted(target)) : [];
  },
};

/**
 * Otherwise writes the configuration after the package, so that the installed containerd checks it: 1.6.32, 1.7.17 and
 * newer of 1.x refuse the configuration of 2.x, while 2.x reads that of 1.x.
 */
const config: Step = {
  name: 'containerd-config',
  watches,
  diff: (target) => (configFirst.diff(target).length > 0 ? [] : fileChanges(target, wanted(target))),
};

const proxy = proxyDropIn('containerd-proxy', paths.proxy);

/** Installs containerd with kbuild's configuration. The package keeps a configuration that exists before it. */
export const containerd: readonly Step[] = [
  ...packageRepository('containerd', ({ runtime }) => runtime.repository),
  ...handlerSteps,
  configFirst,
  registries,
  proxy,
  packages('containerd-package', ({ inventory: { runtime } }) => ({ [runtime.package]: runtime.version }), {
    upgrades: 'held',
    sources: ['containerd'],
  }),
  runtimeUnit,
  config,
  service(unit, { uses: [paths.config, dirname(paths.proxy)], after: [configFirst, config, proxy] }),
  runtimeProved,
];
