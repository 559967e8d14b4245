import type { Step } from '../../engine/step.ts';
import { installation } from './installer.value.ts';
import { installationRestarts, RESTART_WATCHES } from './packages.step.ts';

/** Finishes an interrupted package transaction: the package manager refuses the next one before. */
export const packagesWhole: Step = {
  name: 'packages-whole',
  watches: RESTART_WATCHES,
  diff: (target) => {
    const { inventory, host, facts } = target;
    return facts.brokenPackages.length === 0
      ? []
      : [
          {
            // The scripts of the packages may restart a service.
            ...installationRestarts(target, [inventory.runtime.package]),
            summary: `finish an interrupted installation (found ${facts.brokenPackages.map(({ name, state }) => `${name} ${state}`).join(', ')})`,
            apply: async (on) => {
              const nothing = { packages: {}, optional: [], hold: [], sources: [], proxy: inventory.proxy };
              await on(host).job('packages', installation(target, nothing));
            },
          },
        ];
  },
};
