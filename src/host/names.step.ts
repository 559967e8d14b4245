import { runs } from '../engine/combinators.ts';
import type { Step, Target } from '../engine/step.ts';
import { Refused } from '../errors.ts';
import { endpointHost, isIP } from '../inventory/addresses.ts';
import { controlPlanes } from '../inventory/hosts.ts';
import type { Inventory, LinuxHost } from '../inventory/inventory.ts';
import { isMoving } from '../kubeadm/endpoint.ts';
import { script } from '../templates.ts';
import { HOSTS_BEGIN, HOSTS_END } from './names.facts.ts';

/** Sets the hostname if the inventory asks for it. */
export const hostname: Step = {
  name: 'hostname',
  diff: ({ host, facts }) => {
    const { name } = host;
    if (!host.setHostname || (facts.hostname === name && facts.staticHostname === name)) return [];
    const found = facts.hostname === name ? `${facts.staticHostname || 'none'} in /etc/hostname` : facts.hostname;
    return [
      {
        summary: `set the hostname to ${name} (found ${found})`,
        apply: runs(host, script('host/set-hostname.sh', { NAME: name })),
      },
    ];
  },
};

/** kbuild's lines of /etc/hosts; `absent` if the inventory wants none. */
function wantedBlock(inventory: Inventory): string {
  const name = endpointHost(inventory.endpoint);
  const { loadBalancer } = inventory;
  const address = 'address' in loadBalancer ? loadBalancer.address : controlPlanes(inventory)[0]?.internalAddress;
  if (!inventory.endpointInHosts || address === undefined || isIP(name) !== 0) return 'absent';
  return `${address} ${name}`;
}

/** Writes kbuild's lines of /etc/hosts, or takes them out. */
const written = (host: LinuxHost, wanted: string) =>
  runs(
    host,
    script('host/write-hosts-block.sh', {
      BEGIN: HOSTS_BEGIN,
      END: HOSTS_END,
      BLOCK: wanted === 'absent' ? '' : wanted,
    }),
  );

/** The name that a line of /etc/hosts gives an address. */
const nameIn = (line: string): string => line.split(' ')[1] ?? '';

/**
 * Lines of /etc/hosts by which a host finds the old endpoint, and that the inventory's endpoint would take from it:
 * they give its name another address.
 */
export function takenNames({ inventory, facts }: Pick<Target, 'inventory' | 'facts'>): readonly string[] {
  const wanted = wantedBlock(inventory);
  if (wanted === 'absent' || facts.hostsBlock === 'absent') return [];
  return facts.hostsBlock.split('\n').filter((line) => nameIn(line) === nameIn(wanted) && line !== wanted);
}

/**
 * While the endpoint moves, writes its name to /etc/hosts if the inventory asks for it. The name of the old one stays
 * beside it.
 */
export const bothEndpointNames: Step = {
  name: 'both-endpoint-names',
  diff: ({ inventory, host, facts, fleet: { cluster } }) => {
    const wanted = wantedBlock(inventory);
    if (wanted === 'absent' || cluster.state !== 'up' || !isMoving(inventory, cluster)) return [];
    const found = facts.hostsBlock === 'absent' ? [] : facts.hostsBlock.split('\n');
    if (found.includes(wanted)) return [];
    return [
      {
        summary:
          `write "${wanted}" to /etc/hosts beside the old endpoint (found ` +
          `${found.length === 0 ? 'none' : found.join(', ')})`,
        apply: written(host, [wanted, ...found].join('\n')),
      },
    ];
  },
};

/** @throws Refused while a kubeconfig of the host names a server by a name that would go */
function refuseInUse({ inventory, host, facts }: Target, wanted: string): void {
  const gone = facts.hostsBlock
    .split('\n')
    .map(nameIn)
    .filter((name) => name !== '' && name !== nameIn(wanted));
  if (gone.length === 0) return;
  const used = [...facts.kubeconfigServers].filter(([, { server }]) =>
    gone.some((name) => server.startsWith(`https://${name}:`)),
  );
  if (used.length > 0)
    throw new Refused(
      'endpoint-in-use',
      host.name,
      `/etc/hosts names the server of ${used.map(([name]) => name).join(', ')} (${used[0]![1].server})`,
      `lead the host to the inventory's endpoint first: \`kbuild move-endpoint ${inventory.endpoint}\``,
    );
}

/** Writes the endpoint's name to /etc/hosts if the inventory asks for it. Otherwise removes it. */
export const hostsFile: Step = {
  name: 'hosts-file',
  diff: (target) => {
    const { inventory, host, facts } = target;
    const wanted = wantedBlock(inventory);
    const found = facts.hostsBlock;
    if (wanted === found) return [];
    return [
      {
        summary:
          wanted === 'absent'
            ? `take kbuild's lines out of /etc/hosts (found ${found})`
            : `write "${wanted}" to /etc/hosts (found ${found === 'absent' ? 'none' : found})`,
        apply: async (on) => {
          refuseInUse(target, wanted);
          await written(host, wanted)(on);
        },
      },
    ];
  },
};
