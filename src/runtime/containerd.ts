import { dirname } from 'node:path/posix';
import { containerd as runtime } from '../components/runtimes/containerd.ts';
import { runtimePackages } from '../components/runtimes/index.ts';
import type { Step, Target, Unobserved } from '../engine/step.ts';
import type { Watches } from '../facts/watched.ts';
import { packageRepository } from '../resources/package-repository.ts';
import { fileChanges, type WantedFile } from '../resources/file.ts';
import { packages } from '../resources/packages.ts';
import { proxyDropIn } from '../resources/proxy-drop-in.ts';
import { service } from '../resources/service.ts';
import { registries } from './registries.ts';
import { runtimeProved } from './runtime-proved.ts';

const { paths, unit } = runtime;

/** The version of the installed containerd, from any of its packages; undefined if none is installed. */
function installed({ inventory, facts }: Target): string | undefined {
  return runtimePackages(inventory)
    .map((name) => facts.packages.get(name)?.version.replace(/^\d+:/, ''))
    .find((one) => one !== undefined);
}

const watches = ({ inventory }: Unobserved): Watches => ({
  files: [paths.config],
  packages: runtimePackages(inventory),
});

const major = (version: string): number => Number.parseInt(version, 10);

const wanted = ({ inventory }: Target): WantedFile => ({
  path: paths.config,
  content: runtime.configuration(inventory),
  ...(paths.backup === undefined ? {} : { backup: paths.backup }),
  // If containerd is installed, it judges the user's own settings.
  validate: runtime.validate,
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

const proxy = proxyDropIn('containerd-proxy', paths.proxy);

/** containerd with kbuild's configuration, which the package keeps if it is there before. */
export const containerd: readonly Step[] = [
  ...packageRepository('containerd', ({ runtime }) => runtime.repository),
  configFirst,
  registries,
  proxy,
  packages('containerd-package', ({ inventory: { runtime } }) => ({ [runtime.package]: runtime.version }), {
    upgrades: 'held',
    sources: ['containerd'],
  }),
  config,
  service(unit, {
    uses: [paths.config, dirname(paths.proxy)],
    after: [configFirst, config, proxy],
  }),
  runtimeProved,
];
