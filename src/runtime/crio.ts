import { dirname } from 'node:path/posix';
import { crio as runtime } from '../components/runtimes/crio.ts';
import type { Step } from '../engine/step.ts';
import { file } from '../resources/file.ts';
import { packageRepository } from '../resources/package-repository.ts';
import { packages } from '../resources/packages.ts';
import { proxyDropIn } from '../resources/proxy-drop-in.ts';
import { service } from '../resources/service.ts';
import { runs } from '../resources/runs.ts';
import { sh } from '../shell/sh.ts';
import { handlerSteps } from './handlers.ts';
import { registries } from './registries.ts';
import { runtimeProved } from './runtime-proved.ts';

const { paths, unit } = runtime;

const config = file('crio-config', {
  path: paths.config,
  content: ({ inventory }) => runtime.configuration(inventory),
  validate: runtime.validate,
});

const proxy = proxyDropIn('crio-proxy', paths.proxy);

/** What the runtime's packages put where the network plugin's configuration lies. Newer ones end in `.disabled` by themselves. */
const NETWORKS = [
  '/etc/cni/net.d/10-crio-bridge.conflist',
  '/etc/cni/net.d/11-crio-ipv4-bridge.conflist',
  '/etc/cni/net.d/100-crio-bridge.conflist',
];

/** Takes the runtime's example of a network out of the way: the runtime would use it until the network plugin has its own, or for ever. */
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
