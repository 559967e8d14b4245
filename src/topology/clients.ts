import type { Host, Inventory } from '../model/inventory.ts';
import type { Client } from '../model/listening-port.ts';

/** The other hosts that connect to a port of a host. */
export function clientsOf({ hosts }: Inventory, host: Host, client: Client): readonly Host[] {
  const others = hosts.filter(({ name }) => name !== host.name);
  switch (client) {
    case 'everybody':
      return others;
    case 'control-planes':
      return others.filter(({ role }) => role === 'control-plane' || (role === 'etcd' && host.role === 'etcd'));
    case 'nodes':
      return others.filter(({ role }) => role === 'control-plane' || role === 'worker');
    case 'itself':
      return [];
  }
}
