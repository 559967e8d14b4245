import { endpoint, endpointName, virtualAddress } from '../balancer/endpoint.check.ts';
import { certificateExpiry, sharedKeys } from '../certificates/certificates.check.ts';
import type { Check } from '../engine/check.ts';
import { etcdSpace } from '../etcd/etcd.check.ts';
import { diskSpace, diskSync, overlayMount, overlayStorage, writablePaths } from '../host/disk.check.ts';
import { firewall, portMatrix, ports, reachable } from '../host/firewall.check.ts';
import {
  addressOnHost,
  productUuid,
  uniqueAddress,
  uniqueHost,
  uniqueHostname,
  uniqueMac,
  unnamed,
} from '../host/identity.check.ts';
import { apparmor, kernelModules, kernelVersion, selinux, sysctls, tuned } from '../host/kernel.check.ts';
import {
  architecture,
  cloudInit,
  cpus,
  initSystem,
  memory,
  osSupported,
  pendingReboot,
  requiredTools,
  slowLogin,
} from '../host/machine.check.ts';
import { localNames, nameserver, resolverLoop } from '../host/names.check.ts';
import {
  cloudRoutes,
  defaultRoute,
  mtu,
  pathMtu,
  proxyVariables,
  routesBetweenHosts,
  vxlan,
} from '../host/network.check.ts';
import { downloads } from '../host/packages/downloads.check.ts';
import {
  packageLocks,
  packageManager,
  releaseLock,
  signatures,
  signingKeys,
  systemRepositories,
} from '../host/packages/packages.check.ts';
import { swap } from '../host/swap.check.ts';
import { clockSkew, operatorClock, timeSync } from '../host/time.check.ts';
import {
  endOfLife,
  halfFinished,
  kubeletArguments,
  leftovers,
  nodeHealth,
  versionSkew,
} from '../kubeadm/kubernetes.check.ts';
import { cniConfiguration, kubeProxyMode, podNetwork, routeOverlap } from '../network/pod-network.check.ts';
import { cgroupControllers, cgroupDriver, cgroupVersion } from '../runtime/cgroups.check.ts';
import { runtimeHandlers } from '../runtime/handlers.check.ts';
import { existingRuntime, runtimeSource, runtimeVersion } from '../runtime/runtime.check.ts';
import { windowsSecrets, windowsSelectors } from '../windows/cluster.check.ts';
import {
  windowsBuild,
  windowsDefender,
  windowsDisk,
  windowsDocker,
  windowsFeatures,
  windowsHardware,
  windowsPendingReboot,
} from '../windows/machine.check.ts';
import {
  windowsAddress,
  windowsHostname,
  windowsMacSpoofing,
  windowsPorts,
  windowsReach,
  windowsSsh,
} from '../windows/network.check.ts';

/** Checks of a host for itself. */
export const hostChecks: readonly Check[] = [
  osSupported,
  endOfLife,
  architecture,
  initSystem,
  kernelVersion,
  kernelModules,
  kubeProxyMode,
  vxlan,
  sysctls,
  tuned,
  cgroupVersion,
  cgroupControllers,
  cgroupDriver,
  cpus,
  memory,
  swap,
  diskSpace,
  writablePaths,
  overlayStorage,
  requiredTools,
  selinux,
  apparmor,
  firewall,
  ports,
  timeSync,
  nameserver,
  resolverLoop,
  localNames,
  proxyVariables,
  packageManager,
  packageLocks,
  systemRepositories,
  releaseLock,
  signingKeys,
  signatures,
  pendingReboot,
  cloudInit,
  cloudRoutes,
  existingRuntime,
  runtimeSource,
  runtimeVersion,
  cniConfiguration,
  leftovers,
  halfFinished,
  kubeletArguments,
  certificateExpiry,
  sharedKeys,
  defaultRoute,
  routeOverlap,
  slowLogin,
];

/** Checks of a Windows host for itself. */
export const windowsChecks: readonly Check[] = [
  windowsBuild,
  windowsHardware,
  windowsDisk,
  windowsFeatures,
  windowsPendingReboot,
  windowsHostname,
  windowsDocker,
  windowsSsh,
  windowsAddress,
  windowsMacSpoofing,
  windowsPorts,
  windowsReach,
  windowsSecrets,
  windowsDefender,
];

/** Checks of hosts against each other, the inventory and the live cluster, where all hosts answer. */
const comparisons: readonly Check[] = [
  uniqueHost,
  productUuid,
  runtimeHandlers,
  uniqueHostname,
  uniqueMac,
  uniqueAddress,
  virtualAddress,
  clockSkew,
  operatorClock,
  addressOnHost,
  routesBetweenHosts,
  mtu,
  endpointName,
  etcdSpace,
  endpoint,
  versionSkew,
  nodeHealth,
  windowsSelectors,
  unnamed,
];

/** Checks of all hosts together. */
export const fleetChecks: readonly Check[] = [reachable, ...comparisons];

/** Checks of what surveys measured. */
export const surveyChecks: readonly Check[] = [portMatrix, pathMtu, diskSync, overlayMount, downloads, podNetwork];

/** Every preflight check, in the order in which findings print: a host that does not answer comes first. */
export const checks: readonly Check[] = [reachable, ...hostChecks, ...windowsChecks, ...comparisons, ...surveyChecks];
