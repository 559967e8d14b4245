import { distributions } from '../components/distributions/index.ts';
import { eachHost } from './each-host.ts';

const supported = distributions.filter(({ support }) => support === 'supported');
const FILES = [...new Set(supported.map(({ kubeletArguments }) => kubeletArguments))].join(' or ');

export const kubeletArguments = eachHost(
  {
    name: 'kubelet-arguments',
    title: `the kubelet gets no arguments from ${FILES}`,
    why: `The kubelet's unit reads \`KUBELET_EXTRA_ARGS\` of this file last: its flags win over \`kubelet.config\`, \`kubelet.extraArgs\` and everything else that kbuild configures, and kbuild does not change the file. Move what you need into the inventory (\`kubelet.config\` or \`kubelet.extraArgs\` of the host), remove it from the file, and restart the kubelet.`,
    severities: ['warning'],
  },
  ({ host, facts }) => {
    // Other hosts have no node: the kubelet of an etcd host starts without these variables.
    if (host.role !== 'control-plane' && host.role !== 'worker') return [];
    return facts.kubeletOverrides.map(({ file, variable, flags }) => ({
      severity: 'warning' as const,
      message: `${file} sets ${variable} (${flags.join(', ')}), which wins over the inventory`,
      remedy: `move these flags to kubelet.config or kubelet.extraArgs of the inventory, remove the line, then \`systemctl restart kubelet\``,
    }));
  },
);
