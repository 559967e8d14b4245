import { pluginRules } from './network-plugins/index.ts';
import { etcdsAuthority, signingAuthority, signingElsewhere, validityPeriods } from './rules/certificates.ts';
import {
  endpointCannotMove,
  endpointElsewhere,
  endpointInHosts,
  endpointOfMany,
  endpointPort,
} from './rules/endpoint.ts';
import { dnsBlocks, dnsOfKubeadm, dnsResources } from './rules/dns.ts';
import { etcdFolder } from './rules/etcd-folder.ts';
import { groupNames, groupsOfNodes, knownGroups, usedGroups } from './rules/groups.ts';
import {
  controlPlaneCount,
  etcdCount,
  hostAddresses,
  hostNames,
  internalAddresses,
  nodeSettings,
  someControlPlane,
  supportedHosts,
} from './rules/hosts.ts';
import {
  balancersOfUse,
  endpointOfBalancer,
  externalEndpoint,
  virtualAddress,
  virtualPort,
} from './rules/load-balancer.ts';
import { opensshClient } from './rules/ssh-client.ts';
import { plainHttp } from './rules/plain-http.ts';
import { disjointNetworks, moreSubnetsOfLinux, podSubnetSize, serviceSubnetSize } from './rules/network.ts';
import { ownedHandlers, runtimeHandlers } from './rules/handlers.ts';
import { ownedByKubeadm, ownedByKubelet, ownedLabels } from './rules/owned.ts';
import type { Rule } from './rules/rule.ts';
import { hooksMeanHosts } from './rules/selectors.ts';
import { files } from './rules/files.ts';
import { ignoredChecks, manifestSources, proxyIsSet, registries, supportedSettings } from './rules/settings.ts';
import { ownedSysctls } from './rules/sysctls.ts';
import { runtimePrograms, runtimeRegistries, runtimeSharedFiles } from './rules/runtimes.ts';
import { timeSyncOfHosts } from './rules/time-sync.ts';
import { kubernetesVersion, runtimeVersion, viaVersions } from './rules/versions.ts';
import { windowsHosts } from './rules/windows.ts';

/** Rules about what is written: they also hold for the part of an inventory that could be read. */
export const rules: readonly Rule[] = [
  kubernetesVersion,
  viaVersions,
  runtimeVersion,
  runtimePrograms,
  runtimeRegistries,
  runtimeSharedFiles,
  runtimeHandlers,
  ownedHandlers,
  hostNames,
  hostAddresses,
  internalAddresses,
  nodeSettings,
  groupNames,
  groupsOfNodes,
  supportedHosts,
  windowsHosts,
  disjointNetworks,
  opensshClient,
  podSubnetSize,
  serviceSubnetSize,
  moreSubnetsOfLinux,
  ...pluginRules,
  dnsResources,
  dnsBlocks,
  dnsOfKubeadm,
  supportedSettings,
  registries,
  plainHttp,
  ignoredChecks,
  proxyIsSet,
  manifestSources,
  ownedByKubeadm,
  ownedByKubelet,
  ownedLabels,
  ownedSysctls,
  timeSyncOfHosts,
  etcdFolder,
  virtualAddress,
];

/** Rules about what is missing or counted: only for an inventory that could be read as a whole. */
export const wholeRules: readonly Rule[] = [
  someControlPlane,
  controlPlaneCount,
  etcdCount,
  knownGroups,
  usedGroups,
  endpointOfMany,
  endpointElsewhere,
  endpointCannotMove,
  endpointInHosts,
  endpointPort,
  externalEndpoint,
  endpointOfBalancer,
  virtualPort,
  balancersOfUse,
  files,
  hooksMeanHosts,
  signingAuthority,
  etcdsAuthority,
  signingElsewhere,
  validityPeriods,
];
