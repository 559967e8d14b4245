import { dirname } from 'node:path/posix';
import type { Step, Target, Unobserved } from '../engine/step.ts';
import type { Watches } from '../facts/watched.ts';
import { paths } from '../paths.ts';
import { aptRepository } from '../resources/apt-repository.ts';
import { fileChanges, OURS, type WantedFile } from '../resources/file.ts';
import { packages } from '../resources/packages.ts';
import { proxyDropIn } from '../resources/proxy-drop-in.ts';
import { service } from '../resources/service.ts';
import { containerdConfig } from './containerd-config.ts';
import { sh } from '../shell/sh.ts';
import { registries } from './registries.ts';
import { runtimeProved } from './runtime-proved.ts';

/** Packages that bring containerd: the inventory's, Docker's and the distribution's. */
const packageNames = ({ inventory }: Unobserved): readonly string[] => [
  inventory.runtime.package,
  'containerd.io',
  'containerd',
];

/** The version of the containerd that is installed, by whichever package; undefined where none is. */
function installed(target: Target): string | undefined {
  const { facts } = target;
  return packageNames(target)
    .map((name) => facts.packages.get(name)?.version.replace(/^\d+:/, ''))
    .find((one) => one !== undefined);
}

const watches = (about: Unobserved): Watches => ({
  files: [paths.containerdConfig],
  packages: packageNames(about),
});

const major = (version: string): number => Number.parseInt(version, 10);

const wanted = ({ inventory }: Target): WantedFile => ({
  path: paths.containerdConfig,
  content: `${OURS}.\n${containerdConfig(inventory)}`,
  backup: paths.containerdConfigBackup,
  // Where containerd is installed it says itself what it thinks of the user's own settings.
  validate: (path) =>
    sh`containerd=/usr/bin/containerd
       if ! [ -x $containerd ]; then containerd=$(command -v containerd) || exit 0; fi
       $containerd --config ${path} config dump >/dev/null`,
});

/**
 * The configuration before the package: where no containerd is installed, so that the service starts with it the first time;
 * and before an older major, which understands only an older configuration than the one that is there.
 */
const configFirst: Step = {
  name: 'containerd-config-first',
  watches,
  diff: (target) => {
    const found = installed(target);
    const isFirst = found === undefined || major(found) > major(target.inventory.runtime.version);
    return isFirst ? fileChanges(target, wanted(target)) : [];
  },
};

/**
 * The configuration after the package: containerd 1.6.32, 1.7.17 and newer of 1.x refuse that of 2.x, while 2.x reads that
 * of 1.x. So the program that will run with it says whether it is good.
 */
const config: Step = {
  name: 'containerd-config',
  watches,
  diff: (target) => (configFirst.diff(target).length > 0 ? [] : fileChanges(target, wanted(target))),
};

const proxy = proxyDropIn('containerd-proxy', paths.containerdProxy);

/** containerd with kbuild's configuration, which the package keeps where it is there before. */
export const containerd: readonly Step[] = [
  ...aptRepository('containerd-repository', {
    repository: ({ inventory }) => inventory.runtime.repository,
    keyring: paths.containerdKeyring,
    source: paths.containerdSource,
  }),
  configFirst,
  registries,
  proxy,
  packages('containerd-package', ({ inventory: { runtime } }) => ({ [runtime.package]: runtime.version }), {
    upgrades: 'held',
    sources: [paths.containerdSource],
  }),
  config,
  service('containerd', {
    uses: [paths.containerdConfig, dirname(paths.containerdProxy)],
    after: [configFirst, config, proxy],
  }),
  runtimeProved,
];
