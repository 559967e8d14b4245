import type { Fleet } from '../../cluster/fleet/fleet.ts';
import type { Target } from '../../engine/step.ts';
import { ifKnown } from '../../errors.ts';
import type { Inventory } from '../../inventory/inventory.ts';
import { usesFlannel } from '../../network/flannel.value.ts';
import { networkPlugin, networkPlugins } from '../../network/plugins.value.ts';
import { hnsNetwork } from '../network/hns.step.ts';
import { hasJoined, network, type WindowsSignature } from './problem.ts';

/** Known problems of flannel. */
const flannel: readonly WindowsSignature[] = [
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
    see:
      '`C:\\etc\\cni\\net.d\\10-flannel.conf`: Exceptions holds pods and Services; with host-gw also each host ' +
      'as /32, and never their subnet',
    cause:
      'what is excepted from outbound NAT keeps the address of the pod, to which hosts of an overlay, and other ' +
      'machines of the network, have no way back',
    remedy: 'kbuild up writes the list; pods must be made again to follow it',
    mends: '`up` writes it from podSubnet and serviceSubnet, with host-gw also from the addresses of the hosts',
  },
];

/** Limitations of Windows, or of Kubernetes on Windows, that look like problems. */
const limitations: readonly WindowsSignature[] = [
  {
    name: 'no-outbound-ping',
    symptom: 'Pods cannot ping the outside',
    see: 'by TCP the same address answers: `curl.exe -v telnet://HOST:PORT`',
    cause: 'outbound NAT of Windows translates TCP and UDP, not ICMP',
    remedy: 'test with TCP (curl.exe, Test-NetConnection -Port)',
    mends: 'limit',
  },
  {
    name: 'node-port-from-node',
    symptom: 'A NodePort does not answer on the Windows node itself',
    see: 'from another host it does',
    cause: 'the network of Windows does not send a node’s own packets through kube-proxy’s rules',
    remedy: 'ask from outside, or from another node',
    mends: 'limit',
  },
  {
    name: 'service-from-node',
    symptom: 'A Service address does not answer on the Windows node itself',
    see: 'from a pod of the node it does',
    cause: 'only pods have the route to Services; HostProcess pods are the node',
    remedy: 'ask from a pod; programs of the node use the address of the API endpoint',
    mends: 'limit',
  },
  {
    name: 'dns-suffix',
    symptom: 'Names resolve in Linux pods and not in Windows pods; nslookup and Resolve-DnsName disagree',
    see: '`Resolve-DnsName NAME.NAMESPACE.svc.cluster.local`',
    cause:
      'a Windows pod has one DNS suffix, that of its namespace; a name with a dot is taken for whole; nslookup ' +
      'does not use the resolver of Windows; ClusterFirstWithHostNet is not supported',
    remedy: 'use whole names, and Resolve-DnsName to test',
    mends: 'limit',
  },
];

const neededServices = (inventory: Inventory): readonly string[] => [
  'containerd',
  'kubelet',
  ...(inventory.network.windows?.services === true
    ? [...(networkPlugin(inventory).windows?.services ?? []), 'kube-proxy']
    : []),
];

/** True for pods that belong on Linux nodes: kubeadm's kube-proxy, CoreDNS, and a network plugin's agent. */
const isOfLinux = (labels: Readonly<Record<string, string>>): boolean =>
  ['kube-proxy', 'kube-dns'].includes(labels['k8s-app'] ?? '') ||
  networkPlugins.some(({ agent }) => agent !== undefined && labels[agent.label.name] === agent.label.value);

/** Known problems of the machine, its services and its containers. */
const node: readonly WindowsSignature[] = [
  {
    name: 'services-not-registered',
    symptom: 'The node never appears, or `Get-Service kubelet` finds nothing',
    see: '`kbuild plan` wants to register a service; `Get-Service containerd, kubelet` on the host',
    inFacts: ({ inventory, facts }) => {
      const missing = neededServices(inventory).filter((name) => !facts.services.has(name));
      return hasJoined(facts) && missing.length > 0 ? `no service ${missing.join(', ')}` : undefined;
    },
    cause: 'a service was removed from a host that has joined',
    remedy: 'kbuild up',
    mends: '`up` registers it again',
  },
  {
    name: 'services-not-running',
    symptom: 'The node is NotReady, its processes do not run',
    see: '`kbuild status`; on the host `Get-Service`, and the end of `C:\\var\\log\\kubelet\\kubelet.log`',
    inFacts: ({ inventory, facts }) => {
      const stopped = neededServices(inventory).filter(
        (name) => (facts.services.get(name)?.state ?? 'Running') !== 'Running',
      );
      return hasJoined(facts) && stopped.length > 0 ? `${stopped.join(', ')} not running` : undefined;
    },
    cause: 'kubelet or containerd ended, or the host was restarted and one of them does not come up',
    remedy: 'kbuild up starts them; what ends them stands in their logs (`kbuild status --bundle FILE` collects them)',
    mends: '`up` starts them; after a failure Windows itself does',
  },
  {
    name: 'wrong-build',
    symptom: 'Pods stay in ContainerCreating or fail to start, and others on another host run',
    see: '`kubectl describe pod`; the node’s label `node.kubernetes.io/windows-build`',
    said: /The container operating system does not match the host operating system|no matching manifest for windows/,
    cause: 'the image, or the pause image, was made for another build of Windows than the host’s',
    remedy:
      'use an image with a variant for the build, and the RuntimeClass windows-2022 or windows-2025 to choose ' +
      'hosts; for the pause image set windows.pauseImage',
    mends: 'the pause image is written with its version, one that has every supported build',
  },
  {
    name: 'sandbox-image',
    symptom: 'All pods of a host stay in ContainerCreating',
    see: '`kubectl describe pod` says FailedCreatePodSandBox',
    said: /failed to (?:get|pull|start) sandbox (?:image|container)/,
    cause: 'the pause image cannot be pulled or started',
    remedy: 'check windows.pauseImage, runtime.registries and the proxy',
    mends: 'nothing',
  },
  {
    name: 'linux-pods',
    symptom: 'kube-proxy, CoreDNS or another program of Linux was put on a Windows node, and never starts',
    see: '`kubectl -n kube-system get pods -o wide`; the DaemonSet has no nodeSelector `kubernetes.io/os: linux`',
    inFacts: ({ host, fleet: { cluster } }) => {
      if (cluster.state !== 'up') return undefined;
      const strays = cluster.pods.filter(({ node, labels }) => node === host.name && isOfLinux(labels));
      return strays.length === 0 ? undefined : `${strays.map(({ name }) => name).join(', ')} on it`;
    },
    cause:
      'its DaemonSet or Deployment does not say that it is for Linux, as those of kubeadm have since 1.14, and ' +
      'tolerates every taint',
    remedy:
      'kubectl -n kube-system patch daemonset kube-proxy --type merge -p ' +
      '\'{"spec":{"template":{"spec":{"nodeSelector":{"kubernetes.io/os":"linux"}}}}}\', and the like for others',
    mends: 'nothing',
  },
  {
    name: 'proxy',
    symptom: 'Images or programs cannot be fetched, but a browser on the host can',
    see: '`Get-ItemProperty HKLM:\\SYSTEM\\CurrentControlSet\\Services\\containerd -Name Environment`',
    cause: 'services do not see the proxy of a user, and running ones no new variables of the machine',
    remedy: 'set proxy of the inventory, and run kbuild up',
    mends: '`up` writes it for the machine and each service, with a whole NO_PROXY, and restarts the services',
  },
  {
    name: 'pause-container',
    symptom: 'A container named pause runs for every pod',
    see: '`crictl pods`',
    cause: 'it holds the network of the pod while its containers come and go',
    remedy: 'leave it alone; its image must be of the host’s build',
    mends: 'nothing',
  },
  {
    name: 'port-forward',
    symptom: '`kubectl port-forward` to a Windows pod fails',
    see: '`kbuild windows selftest`, flow port-forward',
    said: /wincat/,
    cause: 'it needs the program wincat, which lies in the pause image; another image was taken for it',
    remedy: 'set windows.pauseImage to an image that has it, e.g. registry.k8s.io/pause:3.10.2',
    mends: 'the default image has it',
  },
];

/** Known problems and limitations of Windows workers, for failure reports, `kbuild status` and the docs. */
export const windowsSignatures: readonly WindowsSignature[] = [...node, ...network, ...flannel, ...limitations];

/** A signature that matches one host. */
interface Recognised {
  readonly host: string;
  readonly signature: WindowsSignature;
  /** The observation there. */
  readonly found: string;
}

/** The signatures that match the facts of a host. Skips a signature if one of its facts could not be observed. */
export const recognised = (target: Target<'windows'>): readonly Recognised[] =>
  windowsSignatures.flatMap((signature) => {
    const found = matchIn(signature, target);
    return found === undefined ? [] : [{ host: target.host.name, signature, found }];
  });

function matchIn({ inFacts }: WindowsSignature, target: Target<'windows'>): string | undefined {
  return ifKnown(() => inFacts?.(target), undefined);
}

/** The signatures that match Windows hosts of the fleet. */
export const troubleOf = (inventory: Inventory, fleet: Fleet): readonly Recognised[] =>
  fleet.hosts.flatMap((observed) =>
    observed.os === 'windows' ? recognised({ inventory, host: observed.host, facts: observed.facts, fleet }) : [],
  );
