import { isIP } from 'node:net';
import { FactError } from '../errors.ts';
import { observedLinux } from '../facts/fleet.ts';
import { controlPlanes } from '../topology/select.ts';
import type { Check, Finding } from './check.ts';
import { unknown } from './run-checks.ts';

export const endpointName: Check = {
  name: 'endpoint-name',
  title: "the endpoint's name resolves on every host, and to the same address",
  why: 'Kubelets reach the API by it. Add it to DNS, or set `kubernetes.endpointInHosts: true` where one control plane is behind it. Without a load balancer it must be an address of the control plane.',
  severities: ['error'],
  test: ({ inventory, fleet }) => {
    const name = inventory.endpoint.slice(0, inventory.endpoint.lastIndexOf(':'));
    if (isIP(name) !== 0 || inventory.endpointInHosts) return [];
    const [only, ...others] = controlPlanes(inventory);
    const own =
      inventory.loadBalancer.kind === 'none' && only !== undefined && others.length === 0
        ? [only.internalAddress, only.address]
        : undefined;
    const found: Finding[] = [];
    const seen = new Map<string, string[]>();
    for (const { host, facts } of observedLinux(fleet)) {
      try {
        const addresses = facts.lookups.get(name) ?? [];
        const remedy = `correct DNS or /etc/hosts of the host`;
        if (addresses === 'silent' || addresses.length === 0) {
          const message = `does not know ${name}, the endpoint${addresses === 'silent' ? ': no name server answered within 3 s' : ''}`;
          found.push({ severity: 'error', host: host.name, message, remedy });
        } else if (own !== undefined && !addresses.some((address) => own.includes(address))) {
          const message = `takes ${name} for ${addresses.join(', ')}, and it is ${own[0]!} (${only!.name})`;
          found.push({ severity: 'error', host: host.name, message, remedy });
        } else {
          const key = addresses.toSorted().join(', ');
          seen.set(key, [...(seen.get(key) ?? []), host.name]);
        }
      } catch (error) {
        if (!(error instanceof FactError)) throw error;
        found.push(unknown(error));
      }
    }
    const [most, ...rest] = [...seen].toSorted(([, a], [, b]) => b.length - a.length);
    return [
      ...found,
      ...(own === undefined ? rest : []).flatMap(([addresses, names]) =>
        names.map((host) => ({
          severity: 'error' as const,
          host,
          message: `takes ${name} for ${addresses}, other hosts for ${most![0]}`,
          remedy: 'make DNS and /etc/hosts of all hosts agree',
        })),
      ),
    ];
  },
};
