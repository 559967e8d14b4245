import { hasKubelet } from '../../facts/joined.ts';
import { eachWindowsHost } from '../each-host.ts';

export const windowsMacSpoofing = eachWindowsHost(
  {
    name: 'windows-mac-spoofing',
    title: 'the hypervisor lets a Windows virtual machine use other MAC addresses',
    why: 'Pods have MAC addresses of their own. Hyper-V and VMware drop such packets unless they are told not to: pods then reach nobody. Nothing inside the machine can tell, so this is said of every virtual machine that is about to join.',
    severities: ['warning'],
  },
  ({ inventory, facts }) => {
    const { manufacturer, model } = facts.machine;
    const isVirtual = /virtual|vmware|qemu|kvm|xen|standard pc/i.test(`${manufacturer} ${model}`);
    if (!isVirtual || hasKubelet(facts) || inventory.network.windows === undefined) return [];
    return [
      {
        severity: 'warning',
        message: `is a virtual machine (${manufacturer} ${model}); its hypervisor must allow other MAC addresses`,
        remedy: 'Hyper-V: Set-VMNetworkAdapter -MacAddressSpoofing On; VMware: forged transmits and MAC changes',
      },
    ];
  },
);
