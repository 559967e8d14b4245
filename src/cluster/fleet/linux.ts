import { balancer, endpoint } from '../../balancer/balancer.facts.ts';
import { authorities, certificates } from '../../certificates/certificates.facts.ts';
import { etcdFolder, etcdPki, etcdServers, etcdToken, externalEtcd } from '../../etcd/etcd.facts.ts';
import { distributedFiles, files, ownFiles } from '../../host/files.facts.ts';
import { firewall } from '../../host/firewall.facts.ts';
import { kernelFeatures, modules, sysctls, sysctlSettings, tunedSettings } from '../../host/kernel.facts.ts';
import * as machine from '../../host/machine.facts.ts';
import * as surroundings from '../../host/machine.facts.ts';
import { lockUsed, login } from '../../host/machine.facts.ts';
import * as names from '../../host/names.facts.ts';
import { lookups, resolver } from '../../host/names.facts.ts';
import { interfaces, kubeChains, listeners, routes } from '../../host/network.facts.ts';
import { installedPrograms } from '../../host/packages/binaries.value.ts';
import { onHost } from '../../host/packages/distributions.value.ts';
import { keyrings, packages } from '../../host/packages/packages.facts.ts';
import { applied, services, timeServices } from '../../host/services.facts.ts';
import { storage } from '../../host/storage.facts.ts';
import { fstabSwaps, swaps, swapUnits, zram } from '../../host/swap.facts.ts';
import {
  addressesOf,
  dnsServiceAddress,
  endpointHost,
  firstServiceAddress,
  hasIpv6,
  isIP,
} from '../../inventory/addresses.ts';
import { landmarks } from '../../inventory/hosts.ts';
import type { Inventory, LinuxHost } from '../../inventory/inventory.ts';
import { newEndpoint } from '../../kubeadm/endpoint.facts.ts';
import {
  kubeletClient,
  kubeletConfig,
  kubeletFlags,
  kubeletOverrides,
  kubeletRuntime,
} from '../../kubeadm/kubelet.facts.ts';
import * as kubernetes from '../../kubeadm/kubernetes.facts.ts';
import { servedBefore } from '../../kubeadm/kubernetes.facts.ts';
import { pluginFiles } from '../../network/plugins.value.ts';
import { handlerPrograms } from '../../runtime/handlers.facts.ts';
import { formerRuntimes, formerSettings, otherContainers } from '../../runtime/other-runtimes.facts.ts';
import { containerRuntime } from '../../runtime/runtimes.value.ts';
import { sharedFiles } from '../../runtime/settings-file.value.ts';
import { onceForEach } from '../../shell/memo.ts';
import type { Probe } from '../../shell/probe.ts';
import type { Watched } from '../../shell/watched.ts';
import type { FactsOf } from './framed-script.ts';

const wayMarks = (inventory: Inventory): readonly string[] => landmarks(inventory).flatMap(addressesOf);

/** The endpoint's host where it is a name. */
const endpointNames = ({ endpoint }: Inventory): readonly string[] => {
  const name = endpointHost(endpoint);
  return isIP(name) === 0 ? [name] : [];
};

type Probes = Readonly<Record<string, Probe<unknown>>>;

/** The machine and its kernel. */
const machineProbes = (host: LinuxHost) =>
  ({
    osRelease: machine.osRelease,
    arch: machine.arch,
    kernel: machine.kernel,
    hostname: names.hostname,
    staticHostname: names.staticHostname,
    hostsBlock: names.hostsBlock,
    bootId: machine.bootId,
    machineId: machine.machineId,
    productUuid: machine.productUuid,
    clockOffsetMs: machine.clockOffsetMs,
    cpus: machine.cpus,
    memoryMiB: machine.memoryMiB,
    initSystem: machine.initSystem,
    cgroupVersion: machine.cgroupVersion,
    swaps,
    fstabSwaps,
    swapUnits,
    zram,
    modules,
    kernelFeatures,
    sysctls: sysctls(host),
    sysctlSettings: sysctlSettings(host),
    tunedSettings,
  }) satisfies Probes;

/** Probes that are the same on all hosts of an inventory: made once, because some are long scripts. */
const inventoryProbes = onceForEach(
  (inventory: Inventory) =>
    ({
      kubernetesTraces: kubernetes.kubernetesTraces(inventory),
      servedBefore: servedBefore(inventory),
      etcdFolder: etcdFolder(inventory),
      serviceNetwork: kubernetes.serviceNetwork(firstServiceAddress(inventory), dnsServiceAddress(inventory)),
      leftovers: kubernetes.leftovers(pluginFiles(inventory)),
      ownFiles: ownFiles(inventory),
      storage: storage(inventory),
      routes: routes(wayMarks(inventory), hasIpv6(inventory)),
      lookups: lookups(endpointNames(inventory), hasIpv6(inventory)),
    }) satisfies Probes,
);

/** Kubernetes and the cluster on the host. */
const kubernetesProbes = (inventory: Inventory, host: LinuxHost) =>
  ({
    caFingerprint: kubernetes.caFingerprint,
    otherCas: kubernetes.otherCas,
    kubeconfigCluster: kubernetes.kubeconfigCluster,
    kubeconfigServers: kubernetes.kubeconfigServers,
    marker: kubernetes.marker,
    runningJob: kubernetes.runningJob,
    kubeletHealthy: kubernetes.kubeletHealthy,
    kubeletClient,
    endpoint: endpoint(inventory, host),
    newEndpoint: newEndpoint(inventory, host),
    externalEtcd: externalEtcd(inventory, host),
    etcdPki: etcdPki(inventory, host),
    etcdToken,
    etcdServers,
    certificates,
    authorities,
  }) satisfies Probes;

/**
 * Probes of the package manager and the files of a distribution: the script that picks the family is the same for all.
 */
const distributionProbes = {
  brokenPackages: onHost(({ packages }) => packages?.broken, []),
  pendingReboot: onHost(({ pendingReboot }) => pendingReboot, 'none'),
  systemRepositories: onHost<readonly string[] | undefined>(({ packages }) => packages?.systemRepositories, undefined),
  releaseLocks: onHost(({ packages }) => packages?.releaseLocks, []),
  packageLocks: onHost(({ packages }) => packages?.locks, []),
  kubeletOverrides: onHost(({ kubeletArguments }) => kubeletOverrides(kubeletArguments), []),
} satisfies Probes;

/** Every fact of a Linux host. A new fact is one line. `watched`: what the run's steps and checks read by name. */
export const linuxProbes = (inventory: Inventory, host: LinuxHost, watched: Watched) => {
  const { probes: runtime, shared } = containerRuntime(inventory);
  return {
    // The first: a run that takes the lock after this probe may change what the later probes read.
    lockUsed,
    // Early, too: it compares with the moment at which the probes began.
    login,
    ...machineProbes(host),
    files: files(watched.files, watched.trees),
    packages: packages(watched.packages),
    binaries: installedPrograms,
    ...distributionProbes,
    keyrings: keyrings(watched.keyrings),
    services: services(watched.units),
    applied,
    listeners,
    interfaces,
    kubeChains,
    runtimeConfig: runtime.config,
    handlerPrograms: handlerPrograms(inventory),
    sharedSettings: sharedFiles(shared),
    images: runtime.images,
    criSockets: surroundings.criSockets,
    cgroupDriverInUse: runtime.cgroupDriverInUse,
    ...kubernetesProbes(inventory, host),
    ...inventoryProbes(inventory),
    distributedFiles,
    resolver: resolver(host),
    firewall,
    cloudInit: surroundings.cloudInit,
    timeServices: timeServices(watched.units),
    missingTools: surroundings.missingTools,
    cosign: surroundings.cosign,
    securityModules: surroundings.securityModules,
    proxyVariables: surroundings.proxyVariables,
    containers: runtime.containers,
    otherContainers: otherContainers(inventory),
    formerRuntimes: formerRuntimes(inventory),
    formerSettings: formerSettings(inventory),
    cniConfigurations: surroundings.cniConfigurations,
    vxlan: surroundings.vxlan,
    cgroupControllers: surroundings.cgroupControllers,
    kubeletConfig,
    kubeletFlags,
    kubeletRuntime,
    balancer,
    // The last: it tells how long the others took (observe-linux.ts).
    nowMs: machine.nowMs,
  } satisfies Probes;
};

/** One immutable snapshot of a Linux host. */
export type LinuxFacts = FactsOf<ReturnType<typeof linuxProbes>>;
