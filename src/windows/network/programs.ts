import { networkPlugin } from '../../components/network-plugins/index.ts';
import type { Step } from '../../engine/step.ts';
import { pinnedProgram } from '../programs.ts';
import { isService } from './services.ts';

/** Installs the programs of a network plugin that is a service. The inventory has their checksums. */
export const windowsNetworkPrograms: Step<'windows'> = {
  name: 'network-programs',
  watches: (about) =>
    isService(about)
      ? {
          files: (networkPlugin(about.inventory).windows?.programs(about.inventory.network) ?? []).map(
            ({ path }) => path,
          ),
        }
      : {},
  diff: (target) => {
    const { inventory, host } = target;
    const { windows } = networkPlugin(inventory);
    if (windows === undefined || !isService(target)) return [];
    return windows.programs(inventory.network).flatMap(({ file, path }) =>
      pinnedProgram(target, {
        name: file,
        version: undefined,
        url: `${host.windows.downloads.network}/${file}`,
        sumUrl: '',
        target: path,
        services: windows.services.filter((name) => file === `${name}.exe`),
      }),
    );
  },
};
