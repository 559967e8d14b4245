import { usesFlannel } from '../../components/network-plugins/flannel.ts';
import { hnsNetwork } from '../network/hns-network.ts';
import { hasJoined } from './network.ts';
import type { WindowsSignature } from './signature.ts';

/** Known problems of flannel. */
export const flannel: readonly WindowsSignature[] = [
  {
    name: 'flanneld-waits',
    symptom: 'flanneld says that it waits for the network, and goes on waiting',
    see: 'the log of the pod kube-flannel-windows of the host; `Get-HnsNetwork` does not show its network',
    said: /Waiting (?:for|to get) (?:the )?(?:network|ManagementIP|net interface)|failed to get management IP from HNSNetwork/i,
    inFacts: ({ inventory, facts }) => {
      const desired = hnsNetwork(inventory);
      if (inventory.network.windows === undefined || !usesFlannel(inventory) || !hasJoined(facts)) return undefined;
      return facts.hns.networks.some(({ name }) => name === desired) ? undefined : `no HNS network ${desired}`;
    },
    cause: 'the Host Networking Service has not made its network, or not given it an address yet',
    remedy: 'wait for its next start; if it stays, restart the service hns, or the host',
    mends: 'flanneld is started again when it has no network after three minutes',
  },
  {
    name: 'subnet-env-missing',
    symptom: 'Pods cannot be created: `subnet.env` is missing',
    see: '`kubectl describe pod`; `C:\\run\\flannel\\subnet.env` on the host',
    said: /run[\\/]+flannel[\\/]+subnet\.env.*(?:cannot find|no such file)/i,
    cause: 'flanneld has not got the node’s network of pods: it does not run, or waits',
    remedy: 'see flanneld’s log; the node must have a podCIDR (`kubectl get node -o yaml`)',
    mends: 'the file of an earlier cluster is removed, and flanneld writes it again',
  },
  {
    name: 'exception-list',
    symptom: 'Pods reach other pods, but not the hosts; or the other way round, and answers come from a wrong address',
    see: '`C:\\etc\\cni\\net.d\\10-flannel.conf`: Exceptions holds pods and Services; with host-gw also each host as /32, and never their subnet',
    cause:
      'what is excepted from outbound NAT keeps the address of the pod, to which hosts of an overlay, and other machines of the network, have no way back',
    remedy: 'kbuild up writes the list; pods must be made again to follow it',
    mends: '`up` writes it from podSubnet and serviceSubnet, with host-gw also from the addresses of the hosts',
  },
];
