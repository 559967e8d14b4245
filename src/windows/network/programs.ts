import type { Change, Step } from '../../engine/step.ts';
import { networkPrograms } from '../../inventory/network-programs.ts';
import { install, restarting } from '../programs.ts';

/** flanneld and the CNI plugins of a host where they are no pods: files with the checksums of the inventory. */
export const windowsNetworkPrograms: Step<'windows'> = {
  name: 'network-programs',
  watches: ({ inventory: { network } }) => ({
    files: network.windows?.services === true ? networkPrograms(network.flannel.backend).map(({ path }) => path) : [],
  }),
  diff: (target) => {
    const { inventory, host, facts } = target;
    if (inventory.network.windows?.services !== true) return [];
    const { network, sha256 } = host.windows.downloads;
    return networkPrograms(inventory.network.flannel.backend).flatMap(({ file, path }): readonly Change[] => {
      const found = facts.files.at(path);
      if (found?.kind === 'file' && found.sha256 === sha256[file]) return [];
      const services = file === 'flanneld.exe' ? ['flanneld'] : [];
      return [
        {
          summary: `install ${file} (found ${found === undefined ? 'none' : 'another'})`,
          ...restarting(target, services),
          apply: (on) =>
            install(on, target, { name: file, version: undefined, url: `${network}/${file}`, sumUrl: '', target: path, services }), // prettier-ignore
        },
      ];
    });
  },
};
