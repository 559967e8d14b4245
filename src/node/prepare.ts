import type { Step } from '../engine/step.ts';
import type { Inventory } from '../model/inventory.ts';
import { packages, RESTART_WATCHES, type WantedPackages } from '../resources/packages.ts';
import { distributedFiles } from './files.ts';
import { firewallOpen } from './firewall.ts';
import { hostname } from './hostname.ts';
import { hostsFile } from './hosts-file.ts';
import { kernelModules } from './kernel-modules.ts';
import { packagesWhole } from './packages-whole.ts';
import { packagesProxy } from './proxy.ts';
import { swapOff } from './swap-off.ts';
import { sysctls } from './sysctls.ts';

const usesTls = ({ kubernetes, runtime }: Inventory): boolean =>
  [kubernetes.repository, runtime.repository].some(({ url, key }) =>
    [url, 'url' in key ? key.url : ''].some((one) => one.startsWith('https:')),
  );

/** Certificates of the public authorities, where a repository is reached over HTTPS: a minimal system has none. */
const certificateAuthorities: Step = {
  ...packages('certificate-authorities', ({ inventory }): WantedPackages =>
    usesTls(inventory) ? { 'ca-certificates': 'any' } : {},
  ),
  // The survey of downloads asks too, also where only registries are reached over HTTPS.
  watches: { ...RESTART_WATCHES, packages: ['ca-certificates'] },
};

/** What a host needs that only balances load, in order: no runtime lives there. */
export const prepareBalancer: readonly Step[] = [
  hostname,
  hostsFile,
  firewallOpen,
  packagesProxy,
  packagesWhole,
  certificateAuthorities,
  distributedFiles,
];

/** Everything that a Linux host needs before a runtime can live on it, in order: the modules bring the sysctls. */
export const prepare: readonly Step[] = [
  hostname,
  hostsFile,
  firewallOpen,
  swapOff,
  kernelModules,
  sysctls,
  packagesProxy,
  packagesWhole,
  certificateAuthorities,
  distributedFiles,
];
