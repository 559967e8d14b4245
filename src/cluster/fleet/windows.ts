import type { Inventory, WindowsHost } from '../../inventory/inventory.ts';
import { networkPlugin } from '../../network/plugins.value.ts';
import type { Probe } from '../../shell/probe.ts';
import type { Watched } from '../../shell/watched.ts';
import { access, files } from '../../windows/files.facts.ts';
import * as kubernetes from '../../windows/kubernetes.facts.ts';
import { reachTargets } from '../../windows/kubernetes.facts.ts';
import * as machine from '../../windows/machine.facts.ts';
import { leftTasks, programs, runningJob, services } from '../../windows/machine.facts.ts';
import * as network from '../../windows/network.facts.ts';
import type { FactsOf } from './framed-script.ts';

/** UDP ports at which HNS listens if the network plugin uses VXLAN. */
const tunnelPorts = (inventory: Inventory): readonly number[] => {
  const port = networkPlugin(inventory).vxlanPort(inventory);
  return port === undefined ? [] : [port];
};

/**
 * Probes of a Windows host, by fact. A fact that Linux hosts have too has the same name and type. `watched`: the names
 * that steps and checks of the run declare.
 */
export const windowsProbes = (inventory: Inventory, host: WindowsHost, watched: Watched) =>
  ({
    machine: machine.machine,
    clockOffsetMs: machine.clockOffsetMs,
    pendingReboot: machine.pendingReboot,
    features: machine.features(watched.features),
    volume: machine.volume,
    services: services(watched.units),
    programs: programs(watched.programs),
    files: files(host.name, watched.files, watched.trees),
    access: access(watched.access),
    environment: network.environment(watched.variables),
    network: network.network,
    firewall: network.firewall(watched.firewallRules),
    listeners: network.listeners([10250, 10256], tunnelPorts(inventory)),
    hns: network.hns,
    sourceVip: network.sourceVip,
    reach: network.reach(reachTargets(inventory, host)),
    defender: network.defender,
    runtimeListens: kubernetes.runtimeListens,
    caFingerprint: kubernetes.caFingerprint,
    otherCas: kubernetes.otherCas,
    kubernetesTraces: kubernetes.kubernetesTraces,
    kubeconfigCluster: kubernetes.kubeconfigCluster,
    marker: kubernetes.marker,
    kubeletFlags: kubernetes.kubeletFlags,
    kubeletConfig: kubernetes.kubeletConfig,
    kubeletHealthy: kubernetes.kubeletHealthy,
    runningJob,
    leftTasks,
  }) satisfies Readonly<Record<string, Probe<unknown, 'powershell'>>>;

/** One observation of a Windows host. Immutable. */
export type WindowsFacts = FactsOf<ReturnType<typeof windowsProbes>>;
