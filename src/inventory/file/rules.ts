import { pluginRules } from '../../network/plugins.file.ts';
import type { Rule } from '../schema/rule.ts';
import {
  disjointNetworks,
  internalAddresses,
  networkFamilies,
  privateNetworks,
  uniqueAddresses,
} from './rules/addresses.ts';
import {
  etcdFolder,
  etcdsAuthority,
  signingAuthority,
  signingElsewhere,
  validityPeriods,
} from './rules/certificates.ts';
import {
  balancersOfUse,
  endpointCannotMove,
  endpointElsewhere,
  endpointInHosts,
  endpointOfBalancer,
  endpointOfMany,
  endpointPort,
  externalEndpoint,
  virtualAddress,
  virtualPort,
} from './rules/endpoint.ts';
import { chartSources, files } from './rules/files.ts';
import {
  controlPlaneCount,
  etcdCount,
  groupNames,
  groupsOfNodes,
  hooksMeanHosts,
  hostLogins,
  hostNames,
  knownGroups,
  nodeSettings,
  someControlPlane,
  supportedHosts,
  usedGroups,
} from './rules/hosts.ts';
import { featureGates, typedArguments } from './rules/kubernetes/arguments.ts';
import { kubeadmValues, kubeProxyValues } from './rules/kubernetes/kubeadm-values.ts';
import { kubeletValues } from './rules/kubernetes/kubelet-values.ts';
import { kubeletsAgree, kubeProxyOfPlugin, kubeProxyOnce, podsOfNode } from './rules/kubernetes/kubelets.ts';
import { skippedPhases, typedOverrides } from './rules/kubernetes/types.ts';
import { localBalancer } from './rules/local-balancer.ts';
import { opensshClient, timeSyncOfHosts } from './rules/machine.ts';
import {
  dnsBlocks,
  dnsOfKubeadm,
  dnsResources,
  moreSubnetsOfLinux,
  mtuOfPlugin,
  podSubnetSize,
  serviceSubnetSize,
} from './rules/network.ts';
import { loadBalancerPools, loadBalancersOfKind, nodeLocalDns } from './rules/network-services.ts';
import { ownedByKubeadm, ownedByKubelet, ownedLabels, ownedSysctls } from './rules/owned.ts';
import { plainHttp } from './rules/plain-http.ts';
import {
  ownedHandlers,
  runtimeHandlers,
  runtimePrograms,
  runtimeRegistries,
  runtimeSharedFiles,
} from './rules/runtimes.ts';
import {
  kubernetesVersion,
  manifestSources,
  proxyIsSet,
  registries,
  runtimeVersion,
  supportedSettings,
  viaVersions,
} from './rules/settings.ts';
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
  hostLogins,
  uniqueAddresses,
  internalAddresses,
  nodeSettings,
  groupNames,
  groupsOfNodes,
  supportedHosts,
  windowsHosts,
  networkFamilies,
  disjointNetworks,
  opensshClient,
  podSubnetSize,
  privateNetworks,
  serviceSubnetSize,
  moreSubnetsOfLinux,
  mtuOfPlugin,
  ...pluginRules,
  loadBalancersOfKind,
  loadBalancerPools,
  nodeLocalDns,
  dnsResources,
  dnsBlocks,
  dnsOfKubeadm,
  supportedSettings,
  registries,
  plainHttp,
  manifestSources,
  chartSources,
  ownedByKubeadm,
  ownedByKubelet,
  typedOverrides,
  skippedPhases,
  typedArguments,
  featureGates,
  kubeadmValues,
  kubeProxyValues,
  kubeProxyOfPlugin,
  kubeProxyOnce,
  kubeletValues,
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
  kubeletsAgree,
  podsOfNode,
  endpointOfMany,
  endpointElsewhere,
  endpointCannotMove,
  endpointInHosts,
  endpointPort,
  externalEndpoint,
  endpointOfBalancer,
  localBalancer,
  virtualPort,
  balancersOfUse,
  files,
  hooksMeanHosts,
  proxyIsSet,
  signingAuthority,
  etcdsAuthority,
  signingElsewhere,
  validityPeriods,
];
