import { flannelWindowsPaths, usesFlannel } from '../../../components/network-plugins/flannel.ts';
import type { Step } from '../../../engine/step.ts';
import { Refused } from '../../../errors.ts';
import { windowsFileChanges } from '../../../resources/windows-file.ts';
import { windowsCniConfig } from './cni-config.ts';

/** Writes flannel's CNI configuration, if an adapter of the host has its address. */
export const windowsCniFile: Step<'windows'> = {
  name: 'cni-config',
  watches: { files: [flannelWindowsPaths.cniConfig] },
  diff: (target) => {
    const { inventory, host, facts } = target;
    if (!usesFlannel(inventory) || inventory.network.windows === undefined) return [];
    const path = flannelWindowsPaths.cniConfig;
    if (!facts.network.addresses.some(({ address }) => address === host.internalAddress)) {
      const why = `no adapter has ${host.internalAddress}`;
      const remedy = 'set internalAddress to an address of the host (`Get-NetIPAddress`)';
      return [{ summary: `write ${path} (${why})`, apply: () => Promise.reject(new Refused(host.name, why, remedy)) }];
    }
    const content = `${JSON.stringify(windowsCniConfig(inventory, host), undefined, 2)}\n`;
    return windowsFileChanges(target, { path, content });
  },
};
