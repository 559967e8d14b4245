import { dirname } from 'node:path/posix';
import type { Step } from '../engine/step.ts';
import { paths } from '../paths.ts';
import { aptRepository } from '../resources/apt-repository.ts';
import { file, OURS } from '../resources/file.ts';
import { packages } from '../resources/packages.ts';
import { proxyDropIn } from '../resources/proxy-drop-in.ts';
import { service } from '../resources/service.ts';
import { containerdConfig } from './containerd-config.ts';
import { sh } from '../shell/sh.ts';
import { registries } from './registries.ts';
import { runtimeProved } from './runtime-proved.ts';

const config = file('containerd-config', {
  path: paths.containerdConfig,
  content: ({ inventory }) => `${OURS}.\n${containerdConfig(inventory)}`,
  backup: paths.containerdConfigBackup,
  // Where containerd is installed it says itself what it thinks of the user's own settings.
  validate: (path) =>
    sh`if command -v containerd >/dev/null; then containerd --config ${path} config dump >/dev/null; fi`,
});

const proxy = proxyDropIn('containerd-proxy', paths.containerdProxy);

/**
 * containerd with kbuild's configuration. The configuration comes before the package: the service then starts with it
 * the first time, and the package keeps it.
 */
export const containerd: readonly Step[] = [
  ...aptRepository('containerd-repository', {
    repository: ({ inventory }) => inventory.runtime.repository,
    keyring: paths.containerdKeyring,
    source: paths.containerdSource,
  }),
  config,
  registries,
  proxy,
  packages('containerd-package', ({ inventory: { runtime } }) => ({ [runtime.package]: runtime.version }), {
    upgrades: 'held',
    sources: [paths.containerdSource],
  }),
  service('containerd', { uses: [paths.containerdConfig, dirname(paths.containerdProxy)], after: [config, proxy] }),
  runtimeProved,
];
