import type { Inventory, LinuxHost } from '../inventory/inventory.ts';
import type { Probe } from './probe.ts';
import type { FactsOf } from './probe.ts';
import { endpoint } from './linux/endpoint.ts';
import { files } from './linux/files.ts';
import { keyrings } from './linux/keyrings.ts';
import { modules, sysctlSettings, sysctls } from './linux/kernel.ts';
import { kubeletConfig, kubeletFlags } from './linux/kubelet.ts';
import * as kubernetes from './linux/kubernetes.ts';
import * as machine from './linux/machine.ts';
import * as names from './linux/names.ts';
import { interfaces, kubeChains, listeners } from './linux/network.ts';
import { ownFiles } from './linux/own-files.ts';
import { brokenPackages, packages } from './linux/packages.ts';
import { cgroupDriverInUse, criSockets, images, runtimeConfig } from './linux/runtime.ts';
import { applied, services } from './linux/services.ts';
import { fstabSwaps, swaps, swapUnits, zram } from './linux/swap.ts';
import { watchedKeyrings, watchedPackages, watchedPaths, watchedTrees, watchedUnits } from './watched.ts';
import { dnsServiceAddress, firstServiceAddress } from '../inventory/subnets.ts';

/** Every fact of a Linux host. A new fact is one line. */
export const linuxProbes = (inventory: Inventory, host: LinuxHost) =>
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
    sysctls,
    sysctlSettings,
    files: files(watchedPaths(inventory, host), watchedTrees),
    packages: packages(watchedPackages(inventory)),
    brokenPackages,
    keyrings: keyrings(watchedKeyrings),
    services: services(watchedUnits),
    applied,
    listeners,
    interfaces,
    kubeChains,
    runtimeConfig,
    images,
    criSockets,
    cgroupDriverInUse,
    caFingerprint: kubernetes.caFingerprint,
    kubernetesTraces: kubernetes.kubernetesTraces,
    kubeconfigCluster: kubernetes.kubeconfigCluster,
    marker: kubernetes.marker,
    runningJob: kubernetes.runningJob,
    kubeletHealthy: kubernetes.kubeletHealthy,
    endpoint: endpoint(inventory, host),
    serviceNetwork: kubernetes.serviceNetwork(firstServiceAddress(inventory), dnsServiceAddress(inventory)),
    certificates: kubernetes.certificates,
    leftovers: kubernetes.leftovers,
    ownFiles,
    kubeletConfig,
    kubeletFlags,
  }) satisfies Readonly<Record<string, Probe<unknown>>>;

/** One immutable snapshot of a Linux host. */
export type LinuxFacts = FactsOf<ReturnType<typeof linuxProbes>>;
