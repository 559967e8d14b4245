import { networkPlugin } from '../components/network-plugins/index.ts';
import { eachHost } from './each-host.ts';

export const vxlan = eachHost(
  {
    name: 'vxlan',
    title: 'the kernel has VXLAN where the network plugin uses it',
    why: 'Most network plugins connect hosts by VXLAN. Cloud images with a reduced kernel may lack it: install the full kernel (on a Raspberry Pi: `linux-modules-extra-raspi`), or reboot after a kernel update.',
    severities: ['error'],
  },
  ({ inventory, facts }) =>
    networkPlugin(inventory).vxlanPort(inventory) === undefined || facts.vxlan !== 'missing'
      ? []
      : [
          {
            severity: 'error',
            message: `the kernel ${facts.kernel} has no VXLAN, by which ${networkPlugin(inventory).name} connects hosts`,
            remedy: 'install the modules of the running kernel, or reboot if the kernel was updated',
          },
        ],
);
