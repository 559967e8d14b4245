import { networkPlugin } from '../../components/network-plugins/index.ts';
import type { Change, Step } from '../../engine/step.ts';
import { install, restarting } from '../programs.ts';
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
    const { inventory, host, facts } = target;
    const { windows } = networkPlugin(inventory);
    if (windows === undefined || !isService(target)) return [];
    const { network, sha256 } = host.windows.downloads;
    return windows.programs(inventory.network).flatMap(({ file, path }): readonly Change[] => {
      const found = facts.files.at(path);
      if (found?.kind === 'file' && found.sha256 === sha256[file]) return [];
      const services = windows.services.filter((name) => file === `${name}.exe`);
      return [
        {
          summary: `install ${file} (found ${found === undefined ? 'none' : 'another'})`,
          ...restarting(target, services),
          apply: (on) =>
            install(on, target, {
              name: file,
              version: undefined,
              url: `${network}/${file}`,
              sumUrl: '',
              target: path,
              services,
            }),
        },
      ];
    });
  },
};
