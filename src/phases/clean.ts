import type { Step } from '../engine/step.ts';
import { noCniRemains, noHostsBlock, noKubeChains, noOwnFiles, packagesReleased } from '../kubeadm/reset/clean-host.ts';
import { membersBalancer } from '../lb/removed.ts';
import { firewallClosed } from '../node/firewall.ts';

/** What makes a host as it was before kbuild, after kubeadm has gone. */
export const clean: readonly Step[] = [
  membersBalancer,
  noCniRemains,
  noKubeChains,
  firewallClosed,
  noOwnFiles,
  noHostsBlock,
  packagesReleased,
];
