import ipaddr from 'ipaddr.js';
import { flannelWindowsPaths, usesFlannel } from '../../../components/network-plugins/flannel.ts';
import type { Step } from '../../../engine/step.ts';
import { Refused } from '../../../errors.ts';
import type { WindowsFacts } from '../../../facts/windows.ts';
import type { WindowsHost } from '../../../model/inventory.ts';
import { windowsFileChanges } from '../../../resources/windows-file.ts';
import { windowsCniConfig, type ManagementNetwork } from './cni-config.ts';

/** The host's internalAddress and its subnet; undefined if no adapter has this address. */
function managementNetwork({ internalAddress }: WindowsHost, { network }: WindowsFacts): ManagementNetwork | undefined {
  const found = network.addresses.find(({ address }) => address === internalAddress);
  if (found === undefined) return undefined;
  const first = ipaddr.IPv4.networkAddressFromCIDR(`${internalAddress}/${String(found.bits)}`).toString();
  return { address: internalAddress, subnet: `${first}/${String(found.bits)}` };
}

/** Writes flannel's CNI configuration, with the observed subnet of the host. */
export const windowsCniFile: Step<'windows'> = {
  name: 'cni-config',
  watches: { files: [flannelWindowsPaths.cniConfig] },
  diff: (target) => {
    const { inventory, host, facts } = target;
    if (!usesFlannel(inventory) || inventory.network.windows === undefined) return [];
    const management = managementNetwork(host, facts);
    const path = flannelWindowsPaths.cniConfig;
    if (management === undefined) {
      const why = `no adapter has ${host.internalAddress}`;
      const remedy = 'set internalAddress to an address of the host (`Get-NetIPAddress`)';
      return [{ summary: `write ${path} (${why})`, apply: () => Promise.reject(new Refused(host.name, why, remedy)) }];
    }
    const content = `${JSON.stringify(windowsCniConfig(inventory, management), undefined, 2)}\n`;
    return windowsFileChanges(target, { path, content });
  },
};
