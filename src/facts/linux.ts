import { isIP } from 'node:net';
import { onHost } from '../components/distributions/on-host.ts';
import { pluginFiles } from '../components/network-plugins/index.ts';
import type { Inventory, LinuxHost } from '../model/inventory.ts';
import { installedPrograms } from '../components/programs/binaries.ts';
import { containerRuntime } from '../components/runtimes/index.ts';
import { sharedFiles } from '../components/runtimes/shared-settings.ts';
import { landmarks } from '../topology/landmarks.ts';
import { onceForEach } from '../shell/once-for-each.ts';
import type { Probe } from '../shell/probe.ts';
import type { FactsOf } from './facts-from.ts';
import { balancer } from './linux/balancer.ts';
import { endpoint } from './linux/endpoint.ts';
import { etcdFolder } from './linux/etcd-folder.ts';
import { etcdServers, etcdToken } from './linux/etcd-manifests.ts';
import { etcdPki } from './linux/etcd-pki.ts';
import { externalEtcd } from './linux/external-etcd.ts';
import { files } from './linux/files.ts';
import { firewall } from './linux/firewall.ts';
import { handlerPrograms } from './linux/handlers.ts';
import { keyrings } from './linux/keyrings.ts';
import { lockUsed } from './linux/lock-used.ts';
import { login } from './linux/login.ts';
import { modules, sysctlSettings, sysctls } from './linux/kernel.ts';
import { kubeletConfig, kubeletFlags, kubeletOverrides, kubeletRuntime } from './linux/kubelet.ts';
import { kubeletClient } from './linux/kubelet-client.ts';
import { authorities } from './linux/authorities.ts';
import { certificates } from './linux/certificates.ts';
import * as kubernetes from './linux/kubernetes.ts';
import * as machine from './linux/machine.ts';
import * as names from './linux/names.ts';
import { interfaces, kubeChains, listeners } from './linux/network.ts';
import { formerRuntimes } from './linux/former-runtimes.ts';
import { formerSettings } from './linux/former-settings.ts';
import { otherContainers } from './linux/other-containers.ts';
import { distributedFiles, ownFiles } from './linux/own-files.ts';
import { newEndpoint } from './linux/new-endpoint.ts';
import { lookups, resolver } from './linux/resolver.ts';
import { routes } from './linux/routes.ts';
import { servedBefore } from './linux/served-before.ts';
import { applied, services } from './linux/services.ts';
import { storage } from './linux/storage.ts';
import * as surroundings from './linux/surroundings.ts';
import { fstabSwaps, swaps, swapUnits, zram } from './linux/swap.ts';
import { packages } from './linux/packages.ts';
import { tunedSettings } from './linux/tuned.ts';
import type { Watched } from './watched.ts';
import { dnsServiceAddress, firstServiceAddress } from '../topology/subnets.ts';

const wayMarks = (inventory: Inventory): readonly string[] =>
  landmarks(inventory).map(({ internalAddress }) => internalAddress);

/** The endpoint's host where it is a name. */
const endpointNames = ({ endpoint }: Inventory): readonly string[] => {
  const name = endpoint.slice(0, endpoint.lastIndexOf(':'));
  return isIP(name.replace(/^\[|\]$/g, '')) === 0 ? [name] : [];
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
      routes: routes(wayMarks(inventory)),
      lookups: lookups(endpointNames(inventory)),
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

/** Probes of the package manager and the files of a distribution: the script that picks the family is the same for all. */
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
    resolver,
    firewall,
    cloudInit: surroundings.cloudInit,
    timeServices: surroundings.timeServices,
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
