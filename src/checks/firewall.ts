import { closedOpenings, openingsText } from '../cluster/openings.ts';
import type { Firewall } from '../facts/linux/firewall-rules.ts';
import { hasKubelet } from '../facts/joined.ts';
import { eachHost, type HostFinding } from './each-host.ts';

const where = ({ kind, place }: Firewall): string => `${kind}${place === kind ? '' : ` (${place})`}`;

export const firewall = eachHost(
  {
    name: 'firewall',
    title:
      'ufw, firewalld or nftables let in the ports of the role from the hosts that need them, VRRP between balancers, and pods through',
    why: 'What is missing is listed by port. kbuild changes no firewall unless the inventory says `firewall: open`: then `up` opens it, for the hosts and pods of the inventory alone, keeps it open over reboots, and `reset` takes it back. Port 6443 for people elsewhere and NodePorts stay yours. Rules that kbuild cannot read (jumps, sets) make it a warning: the port matrix (`check --active`) tells for sure.',
    severities: ['error', 'warning', 'due'],
  },
  ({ inventory, host, facts }): readonly HostFinding[] => {
    if (hasKubelet(facts)) return [];
    return facts.firewall.flatMap((found): readonly HostFinding[] => {
      const closed = closedOpenings(inventory, host, found);
      if (closed.length === 0) return [];
      const verb = found.hook === 'input' ? 'let in' : 'let through';
      const message = `${where(found)} does not ${verb} ${openingsText(closed)}`;
      if (inventory.firewall === 'open') return [{ severity: 'due', message }];
      return [
        {
          severity: found.obscure ? 'warning' : 'error',
          message,
          remedy: 'open it for the other hosts and podSubnet, or let up do it: firewall: open in the inventory',
        },
      ];
    });
  },
);
