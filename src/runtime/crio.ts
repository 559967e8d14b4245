import { dirname } from 'node:path/posix';
import { crio as runtime } from '../components/runtimes/crio.ts';
import type { Step } from '../engine/step.ts';
import { file } from '../resources/file.ts';
import { packageRepository } from '../resources/package-repository.ts';
import { packages } from '../resources/packages.ts';
import { proxyDropIn } from '../resources/proxy-drop-in.ts';
import { service } from '../resources/service.ts';
import { registries } from './registries.ts';
import { runtimeProved } from './runtime-proved.ts';

const { paths, unit } = runtime;

const config = file('crio-config', {
  path: paths.config,
  content: ({ inventory }) => runtime.configuration(inventory),
  validate: runtime.validate,
});

const proxy = proxyDropIn('crio-proxy', paths.proxy);

/** Installs CRI-O with kbuild's drop-in. CRI-O checks the drop-in from the second run on. */
export const crio: readonly Step[] = [
  ...packageRepository('crio', ({ runtime: { repository } }) => repository),
  config,
  registries,
  proxy,
  packages('crio-package', ({ inventory: { runtime } }) => ({ [runtime.package]: runtime.version }), {
    upgrades: 'held',
    sources: ['crio'],
  }),
  service(unit, { uses: [paths.config, dirname(paths.proxy)], after: [config, proxy] }),
  runtimeProved,
];
