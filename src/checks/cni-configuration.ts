import { hasKubelet } from '../facts/joined.ts';
import { NETWORK_PLUGINS } from '../inventory/network-plugins.ts';
import { eachHost } from './each-host.ts';

/** No other network plugin would be used in the place of ours. */
export const cniConfiguration = eachHost(
  {
    name: 'cni-configuration',
    title: "/etc/cni/net.d has no file that containerd would read before the plugin's own",
    why: 'containerd uses the first file by name. What another cluster left there wins over `10-flannel.conflist` or `10-calico.conflist`, and pods get addresses that lead nowhere.',
    severities: ['error'],
  },
  ({ inventory, facts }) => {
    const { plugin } = inventory.network;
    if (plugin === 'none' || hasKubelet(facts)) return [];
    const { cniConfig } = NETWORK_PLUGINS[plugin];
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
