import { filesOf, type Machine } from './host/machine.ts';
import type { Program } from './host/script.ts';
import { startWindowsHost, type SimulatedWindowsHost, type WindowsHostOptions } from './host/server.ts';
import { kubeadmJoin, kubeletAccess } from './kubelet/join.ts';
import { startKubelet } from './kubelet/kubelet.ts';
import type { Pod } from './kubelet/pods.ts';

/** Where flannel's pod puts its configuration. */
const CNI = 'C:\\etc\\cni\\net.d';

/** What the program of a service says that it is: `Kubernetes v1.36.3`. */
const versionOf = (machine: Machine, path: string): string =>
  /v?(\d+\.\d+\.\d+)/.exec(filesOf(machine).text(path) ?? '')?.[1] ?? '0.0.0';

/** What HostProcess pods of the network do to their host; a test may name other images. */
function runsPod(machine: Machine, address: string): (pod: Pod) => void {
  return ({ metadata, spec }) => {
    const images = spec.containers.map(({ image }) => image).join(' ');
    if (!/flannel/.test(`${metadata.name} ${images}`)) return;
    const files = filesOf(machine);
    files.put(`${CNI}\\10-flannel.conf`, '{"name":"flannel.4096"}');
    files.put('C:\\run\\flannel\\subnet.env', 'FLANNEL_NETWORK=10.244.0.0/16\n');
    if (machine.networks.some(({ name }) => name === 'flannel.4096')) return;
    machine.networks.push({ id: 'flannel.4096', name: 'flannel.4096', type: 'Overlay', managementAddress: address });
  };
}

/** The kubelet's service: its command line, its files and its machine make the node. */
const kubeletProgram =
  (name: string, address: string): Program =>
  (machine) => {
    const files = filesOf(machine);
    const { path, parameters } = machine.services.get('kubelet')!;
    // The service manager tries again until kubeadm has put its files there.
    if (files.text('C:\\etc\\kubernetes\\kubelet.conf') === undefined)
      return Promise.resolve({ stop: () => Promise.resolve() });
    const kubelet = startKubelet({
      access: kubeletAccess((file) => files.text(file)),
      facts: {
        name,
        address,
        build: `10.0.${machine.build}`,
        osImage: machine.caption.replace('Microsoft ', ''),
        kubeletVersion: versionOf(machine, 'C:\\k\\kubelet.exe'),
        containerdVersion: versionOf(machine, 'C:\\Program Files\\containerd\\containerd.exe'),
        cpus: machine.cpus,
        memoryBytes: machine.memoryMiB * 1024 ** 2,
        bootId: String(machine.bootTimeMs),
        flags: (parameters['AppParameters'] ?? path).split(' ').filter((word) => word.startsWith('--')),
      },
      world: {
        networkProblem: () => (files.under(CNI).length > 0 ? undefined : 'cni plugin not initialized'),
        podRuns: runsPod(machine, address),
      },
    });
    return Promise.resolve({ stop: () => kubelet.stop() });
  };

/** A simulated Windows host whose kubeadm and kubelet talk to a real API server. `address`: its node's. */
export async function startLabWindowsHost(
  options: Pick<WindowsHostOptions, 'name'> & Partial<WindowsHostOptions> & { readonly internalAddress: string },
): Promise<SimulatedWindowsHost> {
  const { internalAddress, ...rest } = options;
  const host = await startWindowsHost({
    ...rest,
    world: { kubeadm: (config: string, signal: AbortSignal) => kubeadmJoin(config, { signal }), ...options.world },
    programs: { kubelet: kubeletProgram(options.name, internalAddress), ...options.programs },
  });
  (host.machine.addresses as string[]).push(internalAddress);
  return host;
}
