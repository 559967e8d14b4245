import { hasKubelet } from '../../facts/joined.ts';
import { eachWindowsHost } from '../each-host.ts';

export const windowsMacSpoofing = eachWindowsHost(
  {
    name: 'windows-mac-spoofing',
    title: 'the hypervisor lets a Windows virtual machine use other MAC addresses',
    why: 'Pods have MAC addresses of their own. By default Hyper-V and VMware drop packets of such addresses, and the pods cannot reach other hosts. kbuild cannot observe this from inside the machine, so it warns of every virtual machine that is about to join.',
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
