import ipaddr from 'ipaddr.js';
import type { Allowed, Firewall } from '../facts/linux/firewall.ts';
import { hasKubelet } from '../facts/joined.ts';
import { clientsOf } from '../inventory/clients.ts';
import { listeningPorts } from '../inventory/ports.ts';
import { eachHost, type HostSeen } from './each-host.ts';

function covers({ protocol, ports, from }: Allowed, port: number, wanted: string, source: string): boolean {
  if (protocol !== 'any' && protocol !== wanted) return false;
  if (port < ports[0] || port > ports[1]) return false;
  if (from === 'any' || from === '0.0.0.0/0') return true;
  const cidr = from.includes('/') ? from : `${from}/32`;
  return ipaddr.IPv4.isValidCIDR(cidr) && ipaddr.parse(source).match(ipaddr.parseCIDR(cidr));
}

const OPEN: Readonly<Record<Firewall['kind'], (ports: readonly string[]) => string>> = {
  ufw: (ports) => ports.map((port) => `ufw allow ${port}`).join(' && '),
  firewalld: (ports) =>
    `firewall-cmd --permanent ${ports.map((port) => `--add-port=${port}`).join(' ')} && firewall-cmd --reload`,
  nftables: () => 'let these ports in, from the other hosts',
};

/** Ports of the role, as `6443/tcp`, that the host's firewall keeps from somebody who needs them. */
function closed({ inventory, host }: HostSeen, firewall: Firewall): readonly string[] {
  return listeningPorts(inventory, host).flatMap(({ port, protocol, from }) => {
    const sources = clientsOf(inventory, host, from).map(({ internalAddress }) => internalAddress);
    const reached = sources.every((source) => firewall.allowed.some((rule) => covers(rule, port, protocol, source)));
    return reached ? [] : [`${String(port)}/${protocol}`];
  });
}

/** The host's own firewall lets in what the other hosts need. */
export const firewall = eachHost(
  {
    name: 'firewall',
    title: 'ufw, firewalld or nftables let in the ports of the role from the hosts that need them',
    why: 'kbuild changes no firewall. What is missing is listed by port; a remedy for ufw and firewalld is given with it. Rules that kbuild cannot read (jumps, sets) make it a warning: the port matrix (`check --active`) tells for sure.',
    severities: ['error', 'warning'],
  },
  (seen) => {
    const { firewall: found } = seen.facts;
    if (found === 'none' || hasKubelet(seen.facts)) return [];
    const missing = closed(seen, found);
    if (missing.length === 0) return [];
    return [
      {
        severity: found.obscure ? 'warning' : 'error',
        message: `${found.kind}${found.place === found.kind ? '' : ` (${found.place})`} does not let in ${missing.join(', ')}`,
        remedy: OPEN[found.kind](missing),
      },
    ];
  },
);
