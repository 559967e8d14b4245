import { endpointChecks } from '../balancer/endpoint.check.ts';
import { certificateChecks } from '../certificates/certificates.check.ts';
import type { Check, CheckGroup } from '../engine/check.ts';
import { etcdChecks } from '../etcd/etcd.check.ts';
import { diskChecks } from '../host/disk.check.ts';
import { firewallChecks, reachable } from '../host/firewall.check.ts';
import { identityChecks } from '../host/identity.check.ts';
import { kernelChecks } from '../host/kernel.check.ts';
import { machineChecks } from '../host/machine.check.ts';
import { mountChecks } from '../host/mounts.check.ts';
import { nameChecks } from '../host/names.check.ts';
import { networkChecks } from '../host/network.check.ts';
import { downloadChecks } from '../host/packages/downloads.check.ts';
import { packageChecks } from '../host/packages/packages.check.ts';
import { swapChecks } from '../host/swap.check.ts';
import { timeChecks } from '../host/time.check.ts';
import { kubeletChecks } from '../kubeadm/kubelet.check.ts';
import { kubernetesChecks } from '../kubeadm/kubernetes.check.ts';
import { kubeProxyChecks } from '../network/kube-proxy.check.ts';
import { podNetworkChecks } from '../network/pod-network.check.ts';
import { cgroupChecks } from '../runtime/cgroups.check.ts';
import { handlerChecks } from '../runtime/handlers.check.ts';
import { runtimeChecks } from '../runtime/runtime.check.ts';
import { windowsClusterChecks } from '../windows/cluster.check.ts';
import { windowsMachineChecks } from '../windows/machine.check.ts';
import { windowsNetworkChecks } from '../windows/network.check.ts';

/** The checks by subject, in the order in which findings print. */
const groups: readonly CheckGroup[] = [
  machineChecks,
  kubernetesChecks,
  kubeletChecks,
  kernelChecks,
  kubeProxyChecks,
  podNetworkChecks,
  networkChecks,
  cgroupChecks,
  swapChecks,
  diskChecks,
  mountChecks,
  firewallChecks,
  timeChecks,
  nameChecks,
  packageChecks,
  runtimeChecks,
  certificateChecks,
  windowsMachineChecks,
  windowsNetworkChecks,
  windowsClusterChecks,
  identityChecks,
  handlerChecks,
  endpointChecks,
  etcdChecks,
  downloadChecks,
];

const every = (about: keyof CheckGroup): readonly Check[] => groups.flatMap((group) => group[about] ?? []);

/** Checks of a host for itself. */
export const hostChecks: readonly Check[] = every('host');

/** Checks of a Windows host for itself. */
export const windowsChecks: readonly Check[] = every('windows');

/** Checks of all hosts together. */
export const fleetChecks: readonly Check[] = [reachable, ...every('fleet')];

/** Checks of what surveys measured. */
export const surveyChecks: readonly Check[] = every('survey');

/** Every preflight check, in the order in which findings print: a host that does not answer comes first. */
export const checks: readonly Check[] = [
  reachable,
  ...hostChecks,
  ...windowsChecks,
  ...every('fleet'),
  ...surveyChecks,
];

/** The names of all preflight checks: allowed values of `ignoreChecks` and `--ignore-check`. */
export const checkNames: readonly string[] = checks.map(({ name }) => name);
