import { hasReturned } from '../cluster/returned.ts';
import { observedLinux, type Kinds } from '../facts/fleet.ts';
import { paths } from '../paths.ts';
import { balancers } from '../topology/select.ts';
import { eachHost, type HostFinding, type HostSeen } from './each-host.ts';

type Holder = Kinds['linux'];

/** The hosts that hold the virtual address. */
const holdersOf = ({ fleet }: Pick<HostSeen, 'fleet'>, address: string): readonly Holder[] =>
  observedLinux(fleet).filter(({ facts }) => facts.interfaces.some(({ addresses }) => addresses.includes(address)));

/** Why a holder must give the address up, and how; undefined for a load balancer of the inventory. */
function claim({ inventory, fleet }: HostSeen, { host, facts }: Holder): Omit<HostFinding, 'severity'> | undefined {
  const isKubeVip = inventory.loadBalancer.kind === 'kube-vip';
  // The kubelet then ends the pod, which gives the address up.
  const stop = isKubeVip ? `mv ${paths.kubeVipManifest} /root/` : 'systemctl stop keepalived';
  const atOnce = `at once: \`${stop}\` on ${host.name}`;
  if (hasReturned(inventory, fleet, host, facts))
    return {
      message: 'it was removed from the cluster, and came back',
      remedy: `\`kbuild reset --hosts ${host.name}\` stops ${isKubeVip ? 'kube-vip' : 'keepalived'} first and cleans the host; ${atOnce}`,
    };
  if (inventory.loadBalancer.kind !== 'keepalived' || balancers(inventory).some(({ name }) => name === host.name))
    return undefined;
  return {
    message: 'it is no load balancer of the inventory',
    remedy: `\`kbuild up\` stops keepalived there; ${atOnce}`,
  };
}

export const virtualAddress = eachHost(
  {
    name: 'virtual-address',
    title: 'at most one host holds the virtual address of the load balancer',
    why: 'Two hosts with the same virtual address take turns: a connection reaches the one that answered ARP last. It happens when a control plane that was removed as dead boots again, when a host is no load balancer any more, or when VRRP between two of them is dropped. The address belongs to no host: none needs another one. The message names the host that must give it up, and how.',
    severities: ['warning'],
  },
  (seen) => {
    const { inventory, host } = seen;
    if (!('address' in inventory.loadBalancer)) return [];
    const { address, kind } = inventory.loadBalancer;
    const holders = holdersOf(seen, address);
    const own = holders.find((one) => one.host.name === host.name);
    if (own === undefined || holders.length < 2) return [];
    const others = holders.flatMap((one) => (one.host.name === host.name ? [] : [one.host.name])).join(', ');
    const message = `holds the virtual address ${address}, and so does ${others}`;
    const claimed = claim(seen, own);
    if (claimed !== undefined) return [{ severity: 'warning', ...claimed, message: `${message}: ${claimed.message}` }];
    // The others are at fault, and say so.
    if (holders.some((one) => claim(seen, one) !== undefined)) return [];
    return [
      {
        severity: 'warning',
        message: `${message}: they do not hear each other`,
        remedy:
          kind === 'keepalived'
            ? 'let VRRP (IP protocol 112) through between the load balancers; `kbuild up` mends their configurations'
            : 'see the log of kube-vip on both: kubectl -n kube-system get pods -o wide | grep kube-vip',
      },
    ];
  },
);
