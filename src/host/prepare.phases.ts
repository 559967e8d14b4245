import type { Step } from '../engine/step.ts';
import type { Inventory } from '../inventory/inventory.ts';
import { distributedFiles } from './file.step.ts';
import { firewallOpen } from './firewall.step.ts';
import { kernelModules, sysctls } from './kernel.step.ts';
import { hostname, hostsFile } from './names.step.ts';
import { networkManager } from './network-manager.step.ts';
import { packages, packagesWhole, RESTART_WATCHES, type WantedPackages } from './packages/packages.step.ts';
import { packagesProxy } from './packages/repository.step.ts';
import { swapOff } from './swap.step.ts';
import { timeSync } from './time.step.ts';
import { trustedCas } from './trusted-cas.step.ts';

const usesTls = ({ kubernetes, runtime }: Inventory): boolean =>
  [kubernetes, runtime]
    .flatMap(({ repository }) => [repository, repository.rpm])
    .some(({ url, key }) => [url, 'url' in key ? key.url : ''].some((address) => address.startsWith('https:')));

/** Installs the public CA certificates if a repository has an HTTPS URL: a minimal system has none. */
const certificateAuthorities: Step = {
  ...packages('certificate-authorities', ({ inventory }): WantedPackages =>
    usesTls(inventory) ? { 'ca-certificates': 'any' } : {},
  ),
  // The survey of downloads needs this fact even if only registries have HTTPS URLs.
  watches: { ...RESTART_WATCHES, packages: ['ca-certificates'] },
};

/** Installs the packages that the inventory names for the host. */
const ownPackages: Step = packages('own-packages', ({ host }): WantedPackages =>
  Object.fromEntries(host.packages.map((name) => [name, 'any'])),
);

/** Prepares a host that is only a load balancer and has no runtime. The order matters. */
export const prepareBalancer: readonly Step[] = [
  hostname,
  hostsFile,
  firewallOpen,
  sysctls,
  packagesProxy,
  packagesWhole,
  certificateAuthorities,
  trustedCas,
  ownPackages,
  timeSync,
  distributedFiles,
];

/** Prepares a Linux host for its runtime. The order matters: the sysctls exist only after the modules are loaded. */
export const prepare: readonly Step[] = [
  hostname,
  hostsFile,
  firewallOpen,
  swapOff,
  kernelModules,
  sysctls,
  networkManager,
  packagesProxy,
  packagesWhole,
  certificateAuthorities,
  trustedCas,
  ownPackages,
  timeSync,
  distributedFiles,
];
