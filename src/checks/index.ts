import { addressOnHost } from './address-on-host.ts';
import { apparmor } from './apparmor.ts';
import { architecture } from './architecture.ts';
import { certificateExpiry } from './certificate-expiry.ts';
import { cgroupControllers } from './cgroup-controllers.ts';
import { cgroupDriver } from './cgroup-driver.ts';
import { cgroupVersion } from './cgroup-version.ts';
import type { Check } from './check.ts';
import { clockSkew, operatorClock } from './clock-skew.ts';
import { cloudInit } from './cloud-init.ts';
import { cloudRoutes } from './cloud-routes.ts';
import { cniConfiguration } from './cni-configuration.ts';
import { cpus } from './cpus.ts';
import { defaultRoute } from './default-route.ts';
import { diskSpace } from './disk-space.ts';
import { diskSync } from './disk-sync.ts';
import { downloads } from './downloads.ts';
import { endOfLife } from './end-of-life.ts';
import { endpoint } from './endpoint.ts';
import { endpointName } from './endpoint-name.ts';
import { etcdSpace } from './etcd-space.ts';
import { existingRuntime } from './existing-runtime.ts';
import { firewall } from './firewall.ts';
import { halfFinished } from './half-finished.ts';
import { initSystem } from './init-system.ts';
import { kernelModules } from './kernel-modules.ts';
import { kernelVersion } from './kernel-version.ts';
import { kubeProxyMode } from './kube-proxy-mode.ts';
import { kubeletArguments } from './kubelet-arguments.ts';
import { leftovers } from './leftovers.ts';
import { localNames } from './local-names.ts';
import { memory } from './memory.ts';
import { mtu } from './mtu.ts';
import { nameserver } from './nameserver.ts';
import { nodeHealth } from './node-health.ts';
import { osSupported } from './os-supported.ts';
import { overlayMount } from './overlay-mount.ts';
import { overlayStorage } from './overlay-storage.ts';
import { packageLocks } from './package-locks.ts';
import { packageManager } from './package-manager.ts';
import { pathMtu } from './path-mtu.ts';
import { pendingReboot } from './pending-reboot.ts';
import { podNetwork } from './pod-network.ts';
import { portMatrix } from './port-matrix.ts';
import { ports } from './ports.ts';
import { productUuid } from './product-uuid.ts';
import { proxyVariables } from './proxy-variables.ts';
import { releaseLock } from './release-lock.ts';
import { reachable } from './reachable.ts';
import { requiredTools } from './required-tools.ts';
import { resolverLoop } from './resolver-loop.ts';
import { routeOverlap } from './route-overlap.ts';
import { routesBetweenHosts } from './routes-between-hosts.ts';
import { selinux } from './selinux.ts';
import { sharedKeys } from './shared-keys.ts';
import { signatures } from './signatures.ts';
import { signingKeys } from './signing-keys.ts';
import { slowLogin } from './slow-login.ts';
import { runtimeHandlers } from './runtime-handlers.ts';
import { runtimeSource } from './runtime-source.ts';
import { runtimeVersion } from './runtime-version.ts';
import { swap } from './swap.ts';
import { sysctls } from './sysctls.ts';
import { systemRepositories } from './system-repositories.ts';
import { timeSync } from './time-sync.ts';
import { tuned } from './tuned.ts';
import { uniqueAddress } from './unique-address.ts';
import { uniqueHost } from './unique-host.ts';
import { uniqueHostname } from './unique-hostname.ts';
import { uniqueMac } from './unique-mac.ts';
import { unnamed } from './unnamed.ts';
import { versionSkew } from './version-skew.ts';
import { virtualAddress } from './virtual-address.ts';
import { vxlan } from './vxlan.ts';
import { windowsAddress } from './windows/address.ts';
import { windowsBuild } from './windows/build.ts';
import { windowsDefender } from './windows/defender.ts';
import { windowsDisk } from './windows/disk.ts';
import { windowsDocker } from './windows/docker.ts';
import { windowsFeatures } from './windows/features.ts';
import { windowsHardware } from './windows/hardware.ts';
import { windowsHostname } from './windows/hostname.ts';
import { windowsMacSpoofing } from './windows/mac-spoofing.ts';
import { windowsPendingReboot } from './windows/pending-reboot.ts';
import { windowsPorts } from './windows/ports.ts';
import { windowsReach } from './windows/reach.ts';
import { windowsSecrets } from './windows/secrets.ts';
import { windowsSelectors } from './windows/selectors.ts';
import { windowsSsh } from './windows/ssh.ts';
import { writablePaths } from './writable-paths.ts';

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

/** Checks of hosts against each other, the inventory and the live cluster. */
export const fleetChecks: readonly Check[] = [
  reachable,
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

/** Checks of what surveys measured. */
export const surveyChecks: readonly Check[] = [portMatrix, pathMtu, diskSync, overlayMount, downloads, podNetwork];

/** Every preflight check. */
export const checks: readonly Check[] = [
  ...fleetChecks.slice(0, 1),
  ...hostChecks,
  ...windowsChecks,
  ...fleetChecks.slice(1),
  ...surveyChecks,
];
