import { listeningPorts } from '../topology/ports.ts';
import { eachHost } from './each-host.ts';

/** The ports of a host's role are free. A host that kubeadm has worked on has its own programs there. */
export const ports = eachHost(
  {
    name: 'ports',
    title: 'the TCP and UDP ports of the role are free',
    why: `Only on hosts that kubeadm has not worked on; there its own programs listen. Stop the program that is named, or move it to another port.`,
    severities: ['error'],
  },
  ({ inventory, host, facts }) => {
    if (facts.kubernetesTraces.size > 0) return [];
    return listeningPorts(inventory, host).flatMap(({ port, protocol, program }) => {
      const holder = facts.listeners.find((one) => one.port === port && one.protocol === protocol);
      // The load balancer's own program: what it serves is its configuration's business.
      if (holder === undefined || (holder.process === program && program === 'haproxy')) return [];
      const number = holder.pid === undefined ? '' : ` (process ${String(holder.pid)})`;
      const who = holder.process === 'unknown' ? 'an unknown process' : `${holder.process}${number}`;
      return [
        {
          severity: 'error' as const,
          message: `${protocol} port ${port}, which ${program} needs, is held by ${who} at ${holder.address}`,
          remedy: `stop ${who}, or find out with: ss -lnp 'sport = :${port}'`,
        },
      ];
    });
  },
);
