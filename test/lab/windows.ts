/** Simulated Windows hosts in the lab: kbuild reaches them over SSH on this machine, and they join the lab's clusters for real. */
import { joinWorld, kubeletProgram } from '../windows/kubelet/program.ts';
import type { Program } from '../windows/host/script.ts';
import { startWindowsHost, type SimulatedWindowsHost, type WindowsHostOptions } from '../windows/host/server.ts';
import { captured, type Captured } from './capture.ts';
import type { InventoryHost } from './inventory.ts';
import { dial, startEcho, stopEcho, type EchoPod } from './pods.ts';

/** How a simulated Windows host of the lab is. */
export interface WindowsLabHost {
  readonly build: '20348' | '26100';
  readonly internalAddress: string;
  /** The HNS network that flanneld's pod makes. */
  readonly network: string;
  /** Why an image cannot be had; undefined when it can. */
  readonly imageProblem?: (image: string) => string | undefined;
  /** What other services run than the kubelet. */
  readonly programs?: Readonly<Record<string, Program>>;
  /** Other answers than the model's, made of those. */
  readonly answers?: NonNullable<WindowsHostOptions['answers']>;
}

/** A simulated Windows host with the address that its node has; nothing of the lab listens there. */
export async function windowsLabHost(name: string, about: WindowsLabHost): Promise<SimulatedWindowsHost> {
  const host = await startWindowsHost({
    name,
    build: about.build,
    world: { kubeadm: joinWorld },
    programs: { kubelet: kubeletProgram(about), ...about.programs },
    ...(about.answers === undefined ? {} : { answers: about.answers }),
  });
  Object.assign(host.machine, { addresses: [about.internalAddress] });
  return host;
}

/** How an inventory names it. */
export const windowsEntry = ({ machine, host }: SimulatedWindowsHost): InventoryHost => ({
  name: machine.name,
  address: host.address,
  internalAddress: machine.addresses[0]!,
  role: 'worker',
  os: 'windows',
  ssh: {
    user: host.ssh.user,
    port: host.ssh.port,
    identityFile: host.ssh.identityFiles![0]!,
    knownHostsFile: host.ssh.knownHostsFiles[0]!,
  },
});

/** One packet between pods of two workers, caught on the first of them while they talk. */
export async function packetBetween(controlPlane: string, workers: readonly [string, string]): Promise<Captured> {
  const pods = await startEcho(controlPlane, 'wire');
  const [one, other] = workers.map((node) => pods.find((pod) => pod.node === node)!) as [EchoPod, EchoPod];
  const state = { caught: false };
  const talk = async (): Promise<void> => {
    while (!state.caught) await dial(controlPlane, 'wire', one, other.ip);
  };
  const catching = captured(workers[0], one.ip, other.ip).finally(() => (state.caught = true));
  const [found] = await Promise.all([catching, talk()]);
  await stopEcho(controlPlane, 'wire');
  return found;
}
