import type { WindowsFacts } from '../../cluster/fleet/windows.ts';
import type { Target } from '../../engine/step.ts';
import { windowsPaths } from '../../paths.ts';

/** A known problem or limitation of Windows workers, and how to recognise it. */
export interface WindowsSignature {
  /** Unique; reports and the docs use it. */
  readonly name: string;
  /** The symptom that the operator notices. */
  readonly symptom: string;
  /** How to confirm that it is this problem. */
  readonly see: string;
  /** Matches a line that programs log only for this problem. */
  readonly said?: RegExp;
  /** The observation that shows this problem on the host; undefined if its facts do not show it. */
  readonly inFacts?: (target: Target<'windows'>) => string | undefined;
  readonly cause: string;
  /** What to do, in the imperative. */
  readonly remedy: string;
  /** The part of kbuild in it. `nothing`: the operator must act. `limit`: Windows works this way. */
  readonly mends: string;
}

/** True if the host has joined: its kubelet has a kubeconfig. */
export const hasJoined = ({ kubernetesTraces }: WindowsFacts): boolean =>
  kubernetesTraces.has('/etc/kubernetes/kubelet.conf');

/** Known problems of the pod network. */
export const network: readonly WindowsSignature[] = [
  {
    name: 'mac-spoofing',
    symptom: 'Pods of one host reach each other, and no other host; the host is a virtual machine',
    see: '`kbuild windows selftest`: pod to pod on one host passes, across hosts fails',
    cause: 'the hypervisor drops frames whose MAC address is not the machine’s own; every pod has one of its own',
    remedy:
      'allow MAC address spoofing (Hyper-V: Set-VMNetworkAdapter -MacAddressSpoofing On; VMware: accept forged ' +
      'transmits and promiscuous mode)',
    mends: 'nothing',
  },
  {
    name: 'stale-source-vip',
    symptom: 'After a host was removed and joined again, its pods reach no Service',
    see: '`C:\\sourcevip` on the host: its address is not of the node’s podCIDR',
    inFacts: ({ facts }) =>
      !hasJoined(facts) && facts.files.at(windowsPaths.sourceVip) !== undefined
        ? `${windowsPaths.sourceVip} of an earlier cluster`
        : undefined,
    cause: 'kube-proxy goes on with the source address that it had reserved in its former network',
    remedy: 'kbuild up before the join, or delete C:\\sourcevip and restart kube-proxy',
    mends:
      '`up` removes it before a join, and kube-proxy reserves another one when its network changed, or when the ' +
      'file cannot be read',
  },
  {
    name: 'endpoints-deleted',
    symptom: 'Virtual adapters and HNS endpoints of running pods vanish',
    see: '`Get-HnsEndpoint` before and after a restart of kube-proxy',
    cause:
      'kube-proxy does not know that it runs on the node that it is on, and deletes endpoints that it takes for ' +
      'remote ones',
    remedy: 'start it with --hostname-override and the node’s name',
    mends: 'kbuild always sets it, for the network plugin and the kubelet too',
  },
  {
    name: 'no-adapter',
    symptom: 'The network plugin or kube-proxy finds no network adapter',
    see: '`Get-NetAdapter`, `Get-HnsNetwork`: no vEthernet adapter, or the address on another one',
    said: /no network adapter found|failed to find interface|failed to find any valid interface|could not find valid interface/i,
    inFacts: ({ host, facts }) =>
      facts.network.addresses.some(({ address }) => address === host.internalAddress)
        ? undefined
        : `no adapter has ${host.internalAddress}`,
    cause:
      'the address at which the host is a node is on no adapter: a wrong internalAddress, or HNS lost its ' +
      'virtual switch',
    remedy: 'compare internalAddress with `Get-NetIPAddress`; restart the host when a vEthernet adapter is missing',
    mends: 'nothing',
  },
];
