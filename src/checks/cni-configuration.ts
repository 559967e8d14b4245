import { networkPlugin } from '../components/network-plugins/index.ts';
import { hasKubelet } from '../facts/joined.ts';
import { eachHost } from './each-host.ts';

export const cniConfiguration = eachHost(
  {
    name: 'cni-configuration',
    title: "/etc/cni/net.d has no file that the runtime would read before the plugin's own",
    why: 'The runtime uses the first file by name. What another cluster left there wins over the file of the network plugin, and pods get addresses that lead nowhere.',
    severities: ['error'],
  },
  ({ inventory, facts }) => {
    const { agent } = networkPlugin(inventory);
    if (agent === undefined || hasKubelet(facts)) return [];
    const { cniConfig } = agent;
    const before = facts.cniConfigurations.filter((name) => name < cniConfig);
    if (before.length === 0) return [];
    const files = before.map((name) => `/etc/cni/net.d/${name}`);
    return [
      {
        severity: 'error',
        message: `${files.join(', ')} would be used instead of ${cniConfig}`,
        remedy: `remove it, if nothing needs it: rm ${files.join(' ')}`,
      },
    ];
  },
);
