import { isPluginInterface } from '../components/network-plugins/index.ts';
import { runningPrograms } from '../cluster/living-there.ts';
import { eachHost } from './each-host.ts';

/** Interfaces of kube-proxy, and of network plugins that kbuild does not know. */
const LINKS = /^(?:kube-ipvs0|kube-bridge|weave)/;

export const leftovers = eachHost(
  {
    name: 'leftovers',
    title: 'a host that is no node has no packet filter rules and interfaces of a former cluster',
    why: 'Chains of kube-proxy and of network plugins that stayed behind answer for Services that are gone. A restart of the host takes them away, unless a program there makes them anew. `kbuild reset --hosts HOST` removes them at once: only where nothing else on the host uses them.',
    severities: ['warning'],
  },
  ({ host, facts }) => {
    if (facts.kubernetesTraces.size > 0) return [];
    const links = facts.interfaces.flatMap(({ name }) => (LINKS.test(name) || isPluginInterface(name) ? [name] : []));
    const found = [...facts.kubeChains, ...links, ...facts.leftovers];
    if (found.length === 0) return [];
    const alive = runningPrograms({ os: 'linux', host, facts });
    const shown = found.slice(0, 4).join(', ');
    return [
      {
        severity: 'warning',
        message: `a former cluster left ${shown}${found.length > 4 ? ` and ${String(found.length - 4)} more` : ''}`,
        remedy:
          alive.length > 0
            ? `a cluster may live there (${alive.join(', ')} runs): find out which one, or take ${host.name} out of the inventory`
            : `restart ${host.name}; what is there again, a program of the host makes. If nothing on the host uses it: kbuild reset --hosts ${host.name}`,
      },
    ];
  },
);
