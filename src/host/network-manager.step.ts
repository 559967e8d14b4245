import { together, when } from '../engine/combinators.ts';
import type { Step, Target } from '../engine/step.ts';
import type { Inventory } from '../inventory/inventory.ts';
import { networkPlugin } from '../network/plugins.value.ts';
import { OWN_HEADER, paths } from '../paths.ts';
import { file } from './file.step.ts';
import { service } from './service.step.ts';

const UNIT = 'NetworkManager';

/** Interfaces of Kubernetes itself: kube-proxy's in its IPVS mode, and that of its cache of names. */
const KUBERNETES = ['kube-ipvs0', 'nodelocaldns'];

/** `+=` adds to what other files of the administrator say. See NetworkManager.conf(5). */
const content = (inventory: Inventory): string => {
  const names = [...networkPlugin(inventory).interfaceNames, ...KUBERNETES];
  return [
    `${OWN_HEADER}: NetworkManager leaves the network interfaces of pods alone.`,
    '[keyfile]',
    `unmanaged-devices+=${names.map((name) => `interface-name:${name}`).join(';')}`,
    '',
  ].join('\n');
};

const settings: Step = file('network-manager-settings', {
  path: paths.networkManager,
  content: ({ inventory }) => content(inventory),
});

/** A reload: a restart would take the host's own connections down for a moment. */
const reloaded: Step = service(UNIT, {
  uses: [paths.networkManager],
  after: [settings],
  wanted: 'enabled',
  on: 'reload',
});

/**
 * kbuild neither enables nor starts it: where it does not run, or was only started by hand, it is the administrator's.
 */
const isRunning = ({ facts }: Target): boolean => {
  const state = facts.services.get(UNIT);
  return state?.active === 'active' && state.enabled === 'enabled';
};

/**
 * Where NetworkManager runs, it takes over every interface that appears, also those of pods, and removes their
 * addresses and routes. The settings must be there before the network plugin makes the first of them.
 */
export const networkManager: Step = when(isRunning, together('network-manager', settings, reloaded));
