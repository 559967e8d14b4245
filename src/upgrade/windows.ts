import { standing } from '../cluster/standing.ts';
import { secretYaml } from '../configuration/secret-yaml.ts';
import { windowsKubeadmJob, windowsUpgradeConfiguration } from '../configuration/windows-kubeadm.ts';
import { ABOUT_MS } from '../engine/restarts.ts';
import type { Step, Target } from '../engine/step.ts';
import { kubeletFlagsOf } from '../facts/kubelet-flags.ts';
import { windowsPaths } from '../paths.ts';
import type { On } from '../remote/remote.ts';
import { registeredNode } from '../resources/drain.ts';
import { startStopped } from '../resources/windows-service.ts';
import { whenApiAnswers } from '../resources/wait-for-api.ts';
import { uncordonedWhenReady, workloadsBack } from '../resources/workloads.ts';
import { versionIn } from '../versions.ts';
import { windowsContainerd } from '../windows/containerd.ts';
import { windowsKubeadmPatches } from '../windows/join.ts';
import { kubeletServiceOf } from '../windows/kubelet.ts';
import { kubeProxyServiceOf } from '../windows/network/kube-proxy-service.ts';
import { isService } from '../windows/network/services.ts';
import { installedVersion } from '../windows/programs.ts';
import { windowsNodeReady, windowsPodsReady } from '../windows/verify.ts';
import type { Hop } from './hop.ts';
import { drainedFor, removedFlags, type NodeOptions } from './node.ts';
import { hasOldKubelet, isBehind } from './running.ts';
import { isOldProgram, replaceProgram, windowsKubeadmProgram } from './windows-programs.ts';

const MINUTES = 60_000;

/** Takes flags that the kubelet of the hop refuses out of kubeadm's file, and returns those that are left. */
async function keptFlags({ host, facts }: Target<'windows'>, hop: Hop, on: On): Promise<readonly string[] | 'absent'> {
  if (facts.kubeletFlags === 'absent') return 'absent';
  const remote = on(host);
  const text = await remote.read(windowsPaths.kubeletFlags);
  const kept = removedFlags(hop).reduce(
    (left, name) => left.replaceAll(new RegExp(` *--${name}=[^\\s"]*`, 'g'), ''),
    text,
  );
  if (kept !== text) await remote.write(windowsPaths.kubeletFlags, kept);
  return kubeletFlagsOf(kept);
}

/**
 * Upgrades the kubelet of a drained Windows node: kubeadm's part first, then the program, for Windows locks the file of a program
 * that runs. A flag that the newer kubelet refuses goes before it starts.
 */
const windowsKubeletUpgraded = (hop: Hop, { atOnce }: NodeOptions): Step<'windows'> => ({
  name: 'kubelet-upgraded',
  settleMs: 10 * MINUTES,
  diff: (target) => {
    const { inventory, host } = target;
    const node = registeredNode(target);
    if (standing(target) !== 'joined' || node === undefined) return [];
    const isOld = isOldProgram(target, 'kubelet', hop);
    if (!isOld && !hasOldKubelet(node, hop.version)) return [];
    return [
      {
        summary: `upgrade the kubelet of ${host.name} from ${versionIn(node.kubeletVersion) ?? 'unknown'} to ${hop.version}`,
        disrupts: true,
        restarts: [{ what: 'kubelet', hosts: [host.name], aboutMs: ABOUT_MS.kubelet, atOnce }],
        apply: async (on) => {
          const config = secretYaml([windowsUpgradeConfiguration(inventory, host)]);
          await windowsKubeadmJob(on(host), inventory, 'upgrade', config);
          const flags = await keptFlags(target, hop, on);
          if (isOld) await replaceProgram(target, hop, on, 'kubelet');
          await startStopped(target, kubeletServiceOf(target, flags), on);
        },
      },
    ];
  },
});

/** Upgrades a kube-proxy that is a service of the host. One that is a pod is an object of the cluster. */
const windowsKubeProxyUpgraded = (hop: Hop): Step<'windows'> => ({
  name: 'kube-proxy-upgraded',
  settleMs: MINUTES,
  diff: (target) => {
    const { host, facts } = target;
    if (standing(target) !== 'joined' || !isService(target)) return [];
    const isOld = isOldProgram(target, 'kube-proxy', hop);
    const state = facts.services.get('kube-proxy')?.state ?? 'Running';
    if (!isOld && state === 'Running') return [];
    const found = installedVersion(target, 'kube-proxy') ?? 'none that runs';
    return [
      {
        summary: isOld
          ? `upgrade kube-proxy of ${host.name} to ${hop.version} (found ${found})`
          : `start kube-proxy of ${host.name} (found ${state})`,
        disrupts: true,
        restarts: [{ what: 'kube-proxy', hosts: [host.name], aboutMs: ABOUT_MS.service }],
        apply: async (on) => {
          if (isOld) await replaceProgram(target, hop, on, 'kube-proxy');
          await startStopped(target, kubeProxyServiceOf(target), on);
        },
      },
    ];
  },
});

/** Steps that have their turn only before the kubelet of the hop is there: later no pod is away from the node. */
const whileBehind = (hop: Hop, steps: readonly Step<'windows'>[]): readonly Step<'windows'>[] =>
  steps.map((step) => ({
    ...step,
    diff: (target) => (standing(target) === 'joined' && isBehind(target, hop) ? step.diff(target) : []),
  }));

/** Upgrades one Windows worker: kubeadm, then, on the drained node, the runtime, the kubelet and kube-proxy. */
export const windowsNodeSteps = (hop: Hop, options: NodeOptions): readonly Step<'windows'>[] =>
  [
    windowsKubeadmPatches,
    windowsKubeadmProgram(hop),
    drainedFor(hop, options),
    ...whileBehind(hop, windowsContainerd),
    windowsKubeletUpgraded(hop, options),
    windowsKubeProxyUpgraded(hop),
    windowsNodeReady,
    windowsPodsReady,
    uncordonedWhenReady((node) => hasOldKubelet(node, hop.version)),
    workloadsBack((node) => hasOldKubelet(node, hop.version)),
  ].map(whenApiAnswers);
