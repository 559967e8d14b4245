import { getsBinaries } from '../components/programs/installer.ts';
import { eachHost } from './each-host.ts';

export const signatures = eachHost(
  {
    name: 'signatures',
    title: 'hosts have cosign where the inventory requires signatures of published programs',
    why: 'With `downloads.kubernetes.signatures: required` a host that gets binaries installs kubeadm, kubelet and kubectl only after cosign has verified who signed them ([binaries](binaries.md#signatures)). kbuild does not install cosign: what proves programs must not come the same way as they do.',
    severities: ['error'],
  },
  ({ inventory, host, facts }) =>
    host.role === 'load-balancer' ||
    inventory.downloads.kubernetes.signatures !== 'required' ||
    !getsBinaries({ host, facts }) ||
    facts.cosign
      ? []
      : [
          {
            severity: 'error',
            message: 'has no cosign, and the inventory requires signatures (downloads.kubernetes.signatures)',
            remedy: 'install cosign in a folder of the PATH of root, or set downloads.kubernetes.signatures: auto',
          },
        ],
);
