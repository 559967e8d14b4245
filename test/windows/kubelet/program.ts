import { randomUUID } from 'node:crypto';
import { certificateIn, inKubeconfig } from '../host/go-paths.ts';
import { filesOf, type Machine } from '../host/machine.ts';
import { ScriptFailure, type Program } from '../host/script.ts';
import {
  BOOTSTRAP_CONF,
  CLIENT_CERTIFICATE,
  FLAGS_FILE,
  kubeletAccess,
  KUBELET_CONF,
  kubeadmJoin,
  type JoinFiles,
} from './join.ts';
import { startKubelet } from './kubelet.ts';
import type { NodeFacts } from './node.ts';
import type { Pod } from './pods.ts';

/** flannel's is kbuild's, Calico's that of its own pod. */
const CALICO_CONFIG = 'C:\\etc\\cni\\net.d\\10-calico.conflist';
const CNI_CONFIGS = ['C:\\etc\\cni\\net.d\\10-flannel.conf', CALICO_CONFIG];

/** The kubelet's flags: of its service's command line, and kubeadm's where a script puts the two together. */
function flagsOf(machine: Machine): readonly string[] {
  const service = machine.services.get('kubelet');
  const line = [service?.path ?? '', ...Object.values(service?.parameters ?? {})].join(' ');
  const script = /-File "?(\S+?\.ps1)"?/i.exec(line)?.[1];
  const files = filesOf(machine);
  const all = script === undefined ? line : `${files.text(script) ?? ''} ${files.text(FLAGS_FILE) ?? ''}`;
  return [...all.matchAll(/--[a-z-]+=(?:"[^"]*"|[^\s"',]+(?:,[^\s"',]+)*)/g)].map(([flag]) => flag);
}

const versionIn = (text: string | undefined): string => /\d+\.\d+\.\d+/.exec(text ?? '')?.[0] ?? '0.0.0';

/** What a HostProcess pod of the network does to its host. */
function networkPod(machine: Machine, network: string, { metadata, spec }: Pod): void {
  const files = filesOf(machine);
  const app = metadata.labels?.['app'] ?? metadata.labels?.['k8s-app'];
  if (app === 'calico-node-windows') {
    machine.networks.push({ id: randomUUID(), name: network, type: 'Overlay' });
    for (const path of [
      CALICO_CONFIG,
      'C:\\CalicoWindows\\nodename',
      'C:\\var\\lib\\calico\\mtu',
      'C:\\var\\log\\calico\\cni\\cni.log',
    ])
      files.put(path, '{}');
  }
  if (app === 'flannel-windows') {
    for (const plugin of ['flannel.exe', 'host-local.exe', 'sdnoverlay.exe', 'win-bridge.exe'])
      files.put(`C:\\opt\\cni\\bin\\${plugin}`, plugin);
    if (!machine.networks.some(({ name }) => name === network))
      machine.networks.push({ id: randomUUID(), name: network, type: network === 'cbr0' ? 'L2Bridge' : 'Overlay' });
    files.put('C:\\run\\flannel\\subnet.env', 'FLANNEL_IPMASQ=true\r\n');
  }
  if (app === 'kube-proxy-windows') {
    const wanted = spec.containers[0]?.env?.find(({ name }) => name === 'KUBE_NETWORK')?.value;
    if (!machine.networks.some(({ name }) => name === wanted))
      throw new Error(`the HNS network ${wanted ?? ''} did not come within 300 s`);
    files.put('C:\\var\\lib\\kube-proxy-windows\\kubeconfig.conf', 'kind: Config');
    if (wanted?.startsWith('flannel.') === true)
      files.put('C:\\sourcevip\\sourceVip.json', '{"subnet":"10.244.3.0/24","address":"10.244.3.2"}');
  }
}

/** How the kubelet of simulated hosts is set up. */
export interface KubeletWorld {
  /** The HNS network that the plugin makes: `flannel.4096`, `cbr0`, `Calico`. */
  readonly network: string;
  /** Why an image cannot be had; undefined when it can. */
  readonly imageProblem?: (image: string) => string | undefined;
}

function factsOf(machine: Machine): NodeFacts {
  const files = filesOf(machine);
  return {
    name: machine.name,
    address: machine.addresses[0]!,
    build: `10.0.${machine.build}`,
    osImage: machine.caption.replace(/^Microsoft /, ''),
    kubeletVersion: versionIn(files.text('C:\\k\\kubelet.exe')),
    containerdVersion: versionIn(files.text('C:\\Program Files\\containerd\\containerd.exe')),
    cpus: machine.cpus,
    memoryBytes: machine.memoryMiB * 1024 ** 2,
    bootId: String(machine.bootTimeMs),
    flags: flagsOf(machine),
  };
}

/** The service `kubelet` of a simulated host: a node of the real cluster that its kubelet.conf names. */
export const kubeletProgram =
  ({ network, imageProblem }: KubeletWorld): Program =>
  (machine) => {
    const files = filesOf(machine);
    if (files.text(KUBELET_CONF) === undefined) return Promise.reject(new ScriptFailure('kubelet.conf: not found'));
    const flag = (name: string): string =>
      flagsOf(machine)
        .find((one) => one.startsWith(`--${name}=`))
        ?.slice(name.length + 3) ?? '';
    const certificate = inKubeconfig(flag('kubeconfig'), certificateIn(flag('cert-dir')));
    // At its first start the kubelet still has the bootstrap file, and needs no certificate.
    if (!files.exists(BOOTSTRAP_CONF) && certificate !== CLIENT_CERTIFICATE)
      return Promise.reject(new ScriptFailure(`unable to read client-cert ${certificate}: no such file`));
    const kubelet = startKubelet({
      access: kubeletAccess((path) => files.text(path)),
      facts: factsOf(machine),
      world: {
        networkProblem: () =>
          CNI_CONFIGS.some((path) => files.exists(path))
            ? undefined
            : 'container runtime network not ready: NetworkReady=false reason:NetworkPluginNotReady message:Network plugin returns error: cni plugin not initialized',
        ...(imageProblem === undefined ? {} : { imageProblem }),
        podRuns: (pod) => networkPod(machine, network, pod),
      },
    });
    return Promise.resolve({ stop: () => kubelet.stop() });
  };

/** What the answer of kubeadm.ps1 asks of its world. */
export const joinWorld = (config: string, signal: AbortSignal): Promise<JoinFiles> => kubeadmJoin(config, { signal });
