import { isIP } from 'node:net';
import type { Step } from '../engine/step.ts';
import { HOSTS_BEGIN, HOSTS_END } from '../facts/linux/names.ts';
import type { Inventory } from '../model/inventory.ts';
import { endpointHost } from '../topology/api-server.ts';
import { controlPlanes } from '../topology/select.ts';
import { runs } from '../resources/runs.ts';
import { script } from '../templates.ts';

/** kbuild's lines of /etc/hosts; `absent` if the inventory wants none. */
function wantedBlock(inventory: Inventory): string {
  const name = endpointHost(inventory.endpoint);
  const { loadBalancer } = inventory;
  const address = 'address' in loadBalancer ? loadBalancer.address : controlPlanes(inventory)[0]?.internalAddress;
  if (!inventory.endpointInHosts || address === undefined || isIP(name) !== 0) return 'absent';
  return `${address} ${name}`;
}

/** Writes the endpoint's name to /etc/hosts if the inventory asks for it. Otherwise removes it. */
export const hostsFile: Step = {
  name: 'hosts-file',
  diff: ({ inventory, host, facts }) => {
    const wanted = wantedBlock(inventory);
    const found = facts.hostsBlock;
    if (wanted === found) return [];
    return [
      {
        summary:
          wanted === 'absent'
            ? `take kbuild's lines out of /etc/hosts (found ${found})`
            : `write "${wanted}" to /etc/hosts (found ${found === 'absent' ? 'none' : found})`,
        apply: runs(
          host,
          script('linux/write-hosts-block.sh', {
            BEGIN: HOSTS_BEGIN,
            END: HOSTS_END,
            BLOCK: wanted === 'absent' ? '' : wanted,
          }),
        ),
      },
    ];
  },
};
