import { standing } from '../cluster/standing.ts';
import { waitForApi, whenApiAnswers } from '../engine/combinators.ts';
import { registeredNode } from '../engine/drain.ts';
import { ABOUT_MS } from '../engine/restarts.ts';
import type { NodeChange, RollOptions } from '../engine/rolling.ts';
import type { Step, Target } from '../engine/step.ts';
import { jobEnded } from '../host/idle.step.ts';
import { kubeletFlagsOf } from '../kubeadm/kubelet.facts.ts';
import { windowsPaths } from '../paths.ts';
import { secretYaml } from '../shell/yaml.ts';
import type { On } from '../ssh/remote.ts';
import { versionIn } from '../versions.ts';
import { windowsContainerd } from '../windows/containerd.step.ts';
import { windowsKubeadmPatches } from '../windows/join.step.ts';
import { windowsKubeadmJob, windowsUpgradeConfiguration } from '../windows/kubeadm.ts';
import { kubeletServiceOf } from '../windows/kubelet.step.ts';
import { isService } from '../windows/network/hns.step.ts';
import { kubeProxyServiceOf, WINDOWS_KUBE_PROXY_LABEL } from '../windows/network/kube-proxy.step.ts';
import { windowsNetwork } from '../windows/network/plugins.step.ts';
import { installedVersion } from '../windows/programs.step.ts';
import { windowsNodeReady, windowsPodsReady } from '../windows/ready.step.ts';
import { startStopped } from '../windows/service.step.ts';
import type { Hop } from './hop.ts';
import { removedFlags, upgradeRoll, whileBehind } from './node.step.ts';
import { hasOldKubelet } from './versions.ts';
import { isOldProgram, replaceProgram, windowsKubeadmProgram } from './windows-programs.step.ts';

const MINUTES = 60_000;

/**
 * Brings the pods of kube-proxy on Windows hosts to the image of the inventory, and waits until each host has one that
 * is ready. The DaemonSet replaces them by itself, a tenth at a time.
 */
export const windowsKubeProxyPods: Step<'cluster'> = {
  name: 'windows-kube-proxy',
  settleMs: 30 * MINUTES,
  diff: (target) => {
    const { inventory, facts } = target;
    const { windows } = inventory.network;
    if (windows === undefined || windows.services) return [];
    if (facts.state !== 'up') return facts.state === 'down' ? [waitForApi(facts)] : [];
    const { name, value } = WINDOWS_KUBE_PROXY_LABEL;
    const pods = facts.pods.filter(({ labels }) => labels[name] === value);
    const others = pods.filter(({ images }) => images[0] !== windows.kubeProxyImage);
    if (others.length === 0) return [];
    const hosts = others.map(({ node }) => node);
    const [change] = windowsNetwork.diff(target);
    if (change === undefined)
      return [{ summary: `wait until kube-proxy of ${hosts.join(', ')} runs ${windows.kubeProxyImage}` }];
    return [
      {
        ...change,
        summary:
          `bring kube-proxy of Windows hosts to ${windows.kubeProxyImage} (found ` +
          `${[...new Set(others.map(({ images }) => images[0] ?? 'none'))].join(', ')})`,
        restarts: [{ what: 'kube-proxy', hosts, aboutMs: ABOUT_MS.pod, atOnce: 1 }],
      },
    ];
  },
};

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
 * Upgrades the kubelet of a drained Windows node: kubeadm's part first, then the program, for Windows locks the file of
 * a program that runs. A flag that the newer kubelet refuses goes before it starts.
 */
const windowsKubeletUpgraded = (hop: Hop, { atOnce }: RollOptions): Step<'windows'> => ({
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
        summary:
          `upgrade the kubelet of ${host.name} from ${versionIn(node.kubeletVersion) ?? 'unknown'} ` +
          `to ${hop.version}`,
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

/** What upgrades a Windows worker: kubeadm, then, on the drained node, the runtime, the kubelet and kube-proxy. */
export const windowsUpgradeRoll = (hop: Hop, options: RollOptions): NodeChange<'windows'> =>
  upgradeRoll<'windows'>(hop, options, {
    before: [jobEnded, ...[windowsKubeadmPatches, windowsKubeadmProgram(hop)].map(whenApiAnswers)],
    whileDrained: [
      ...windowsContainerd.map((step) => whileBehind(hop, step)),
      windowsKubeletUpgraded(hop, options),
      windowsKubeProxyUpgraded(hop),
    ],
    gates: [windowsNodeReady, windowsPodsReady],
  });
