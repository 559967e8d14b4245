import type { Step } from '../engine/step.ts';
import { osOf } from '../os/index.ts';
import { installationRestarts, RESTART_WATCHES } from '../resources/packages.ts';

/** No package transaction that was cut off in the middle: apt would refuse the next one. */
export const packagesWhole: Step = {
  name: 'packages-whole',
  watches: RESTART_WATCHES,
  diff: (target) => {
    const { inventory, host, facts } = target;
    return facts.brokenPackages.length === 0
      ? []
      : [
          {
            // Whichever package is configured at last may restart its service; and dpkg may configure others with it.
            ...installationRestarts(target, [inventory.runtime.package]),
            summary: `finish an interrupted installation (found ${facts.brokenPackages.map(({ name, state }) => `${name} ${state}`).join(', ')})`,
            apply: async (on) => {
              const nothing = { packages: {}, optional: [], hold: [], sources: [] };
              await on(host).job('packages', osOf(host, facts).installPackages(nothing));
            },
          },
        ];
  },
};
