import { hasKubelet } from '../facts/joined.ts';
import { eachHost } from './each-host.ts';

const OURS = { flannel: '10-flannel.conflist', calico: '10-calico.conflist' } as const;

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
    const before = facts.cniConfigurations.filter((name) => name < OURS[plugin]);
    if (before.length === 0) return [];
    const files = before.map((name) => `/etc/cni/net.d/${name}`);
    return [
      {
        severity: 'error',
        message: `${files.join(', ')} would be used instead of ${OURS[plugin]}`,
        remedy: `remove it, if nothing needs it: rm ${files.join(' ')}`,
      },
    ];
  },
);
