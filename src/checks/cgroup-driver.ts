import { containerRuntime } from '../components/runtimes/index.ts';
import { hasKubelet } from '../facts/joined.ts';
import { otherDriver } from '../resources/cgroup-driver.ts';
import { eachHost, type HostFinding, type HostSeen } from './each-host.ts';

/** Pods that were started by another driver than the inventory's, on a host that has joined. */
function ofPods(seen: HostSeen): readonly HostFinding[] {
  const { inventory, host, facts } = seen;
  const { cgroupDriver: wanted } = inventory.runtime;
  const { title } = containerRuntime(inventory);
  const { cgroupDriverInUse: used, runtimeConfig, kubeletConfig } = facts;
  if (used === 'none' || used === wanted) return [];
  const runtimeDiffers = typeof runtimeConfig === 'object' && runtimeConfig.cgroupDriver !== wanted;
  const kubeletDiffers = kubeletConfig !== 'absent' && kubeletConfig['cgroupDriver'] !== wanted;
  const found = used === 'mixed' ? 'pods run by both cgroup drivers' : `pods run by the cgroup driver ${used}`;
  if (runtimeDiffers || kubeletDiffers || otherDriver(seen) !== undefined)
    return [
      {
        severity: 'due',
        message: `${found}; up drains the node, configures ${title} and the kubelet for ${wanted}, and starts the pods that stay there anew`,
      },
    ];
  return [
    {
      severity: 'warning',
      message: `${found}, though ${title} and the kubelet are configured for ${wanted}`,
      remedy: `\`kubectl drain ${host.name} --ignore-daemonsets\`, restart the host, \`kubectl uncordon ${host.name}\``,
    },
  ];
}

export const cgroupDriver = eachHost(
  {
    name: 'cgroup-driver',
    title: "runtime and pods have the inventory's cgroup driver",
    why: 'With two drivers everything looks well at first, and minutes later pods die. On a joined host `up` [drains the node first](changing-a-cluster.md#the-cgroup-driver), one host at a time.',
    severities: ['due', 'warning'],
  },
  (seen) => {
    const { inventory, facts } = seen;
    if (hasKubelet(facts)) return ofPods(seen);
    const wanted = inventory.runtime.cgroupDriver;
    const config = facts.runtimeConfig;
    if (config === 'absent' || config === 'invalid' || config.cgroupDriver === wanted) return [];
    return [
      {
        severity: 'due',
        message: `${containerRuntime(inventory).title} has the cgroup driver ${config.cgroupDriver}, not ${wanted}`,
      },
    ];
  },
);
