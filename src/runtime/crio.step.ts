import { dirname } from 'node:path/posix';
import { runs } from '../engine/combinators.ts';
import type { Step } from '../engine/step.ts';
import { file } from '../host/file.step.ts';
import { packages } from '../host/packages/packages.step.ts';
import { packageRepository } from '../host/packages/repository.step.ts';
import { proxyDropIn, service } from '../host/service.step.ts';
import { sh } from '../shell/sh.ts';
import { crio as runtime } from './crio.value.ts';
import { handlerSteps } from './handlers.step.ts';
import { registries, runtimeProved } from './images.step.ts';

const { paths, unit } = runtime;

const config = file('crio-config', {
  path: paths.config,
  content: ({ inventory }) => runtime.configuration(inventory),
  validate: runtime.validate,
});

const proxy = proxyDropIn('crio-proxy', paths.proxy);

/**
 * Example networks that the runtime's packages install into the folder of the network plugin's configuration. Newer
 * packages name them `.disabled` themselves.
 */
const NETWORKS = [
  '/etc/cni/net.d/10-crio-bridge.conflist',
  '/etc/cni/net.d/11-crio-ipv4-bridge.conflist',
  '/etc/cni/net.d/100-crio-bridge.conflist',
];

/**
 * Disables the runtime's example network. The runtime would use it until the network plugin writes its own
 * configuration, or even after that.
 */
const noOwnNetwork: Step = {
  name: 'crio-no-own-network',
  watches: { files: NETWORKS },
  diff: ({ host, facts }) =>
    NETWORKS.filter((path) => facts.files.get(path)?.kind === 'file').map((path) => ({
      summary: `rename ${path} to ${path}.disabled (the network plugin brings the configuration)`,
      apply: runs(host, sh`mv -- ${path} ${`${path}.disabled`}`),
    })),
};

/** Installs CRI-O with kbuild's drop-in, which an installed CRI-O checks. */
export const crio: readonly Step[] = [
  ...packageRepository('crio', ({ runtime: { repository } }) => repository),
  ...handlerSteps,
  config,
  registries,
  proxy,
  packages('crio-package', ({ inventory: { runtime } }) => ({ [runtime.package]: runtime.version }), {
    upgrades: 'held',
    // It has no client of its own.
    optional: () => ['cri-tools'],
    sources: ['crio'],
  }),
  noOwnNetwork,
  service(unit, { uses: [paths.config, dirname(paths.proxy)], after: [config, proxy] }),
  runtimeProved,
];
