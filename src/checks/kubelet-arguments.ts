import { paths } from '../paths.ts';
import { eachHost } from './each-host.ts';

/** Nothing on a node overrides what the inventory tells its kubelet. */
export const kubeletArguments = eachHost(
  {
    name: 'kubelet-arguments',
    title: `${paths.kubeletExtraArgs} gives the kubelet no arguments of its own`,
    why: `The kubelet's unit reads \`KUBELET_EXTRA_ARGS\` of this file last: its flags win over \`kubelet.config\`, \`kubelet.extraArgs\` and everything else that kbuild tells the kubelet, and kbuild does not change the file. Move what you need into the inventory (\`kubelet.config\` or \`kubelet.extraArgs\` of the host), remove it from the file, and restart the kubelet.`,
    severities: ['warning'],
  },
  ({ host, facts }) => {
    // Others have no node; the kubelet of a host of role etcd is started without these variables.
    if (host.role !== 'control-plane' && host.role !== 'worker') return [];
    return facts.kubeletOverrides.map(({ variable, flags }) => ({
      severity: 'warning' as const,
      message: `${paths.kubeletExtraArgs} sets ${variable} (${flags.join(', ')}), which wins over the inventory`,
      remedy: `move these flags to kubelet.config or kubelet.extraArgs of the inventory, remove the line, then \`systemctl restart kubelet\``,
    }));
  },
);
