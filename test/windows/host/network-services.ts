import { randomUUID } from 'node:crypto';
import { filesOf, type Machine } from './machine.ts';
import { ScriptFailure, type Program } from './script.ts';

const flagsOf = (machine: Machine, service: string): ReadonlyMap<string, string> =>
  new Map(
    (machine.services.get(service)?.parameters['AppParameters'] ?? '')
      .split(' ')
      .map((flag): [string, string] => [/^--[a-z-]+/.exec(flag)?.[0] ?? flag, flag.replace(/^--[a-z-]+=?/, '')]),
  );

const idle = { stop: () => Promise.resolve() };

/** How the network's services of a simulated host behave. */
export interface NetworkServices {
  /** The node's own network of pods; a real cluster is asked for it. */
  readonly subnet: string | ((machine: Machine) => Promise<string>);
  /** What kube-proxy asks of a real cluster. */
  readonly proxied?: (machine: Machine) => Promise<void>;
  /** How often flanneld must be started until it makes its network; default once. */
  readonly starts?: number;
}

/**
 * flanneld as nssm runs it: with the kubelet's credentials, its node's name and its configuration it makes the HNS network
 * and tells the node's subnet. kube-proxy wants that network, and in an overlay an address of it.
 */
export function networkServices({
  subnet: asked,
  proxied,
  starts = 1,
}: NetworkServices): Readonly<Record<string, Program>> {
  let started = 0;
  const flanneld: Program = async (machine) => {
    const files = filesOf(machine);
    const flags = flagsOf(machine, 'flanneld');
    const node = machine.services.get('flanneld')?.environment.find((one) => one.startsWith('NODE_NAME='));
    if (node !== `NODE_NAME=${machine.name}`) throw new ScriptFailure('failed to find the name of the node');
    if (files.text(flags.get('--kubeconfig-file')!) === undefined) throw new ScriptFailure('no kubeconfig');
    const text = files.text(flags.get('--net-config-path')!);
    if (text === undefined) throw new ScriptFailure('no net-conf.json');
    const { Backend } = JSON.parse(text) as { readonly Backend: { readonly Type: string; readonly VNI?: number } };
    started += 1;
    if (started < starts) return idle;
    const subnet = typeof asked === 'string' ? asked : await asked(machine);
    const name = Backend.Type === 'vxlan' ? `flannel.${String(Backend.VNI)}` : 'cbr0';
    if (!machine.networks.some((network) => network.name === name)) {
      // The virtual switch takes the adapter's own routes.
      machine.routes.clear();
      machine.networks.push({ id: randomUUID(), name, type: name === 'cbr0' ? 'L2Bridge' : 'Overlay', subnet });
    }
    files.put('C:\\run\\flannel\\subnet.env', `FLANNEL_SUBNET=${subnet}\r\n`);
    return idle;
  };
  const kubeProxy: Program = async (machine) => {
    const flags = flagsOf(machine, 'kube-proxy');
    const network = machine.networks.find(({ name }) => name === flags.get('--network-name'));
    if (network === undefined) throw new ScriptFailure('could not find HNS network');
    if (network.type === 'Overlay' && !flags.has('--source-vip')) throw new ScriptFailure('source-vip flag not set');
    await proxied?.(machine);
    return idle;
  };
  return { flanneld, 'kube-proxy': kubeProxy };
}
