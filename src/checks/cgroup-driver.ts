import { hasKubelet } from '../facts/joined.ts';
import { eachHost } from './each-host.ts';

/** Runtime and kubelet manage cgroups in the same way. */
export const cgroupDriver = eachHost(
  {
    name: 'cgroup-driver',
    title: "an installed runtime has the inventory's cgroup driver",
    why: 'With two drivers everything looks well at first, and minutes later pods die. `up` configures the runtime; on a host where pods already run by the other driver it must be drained first.',
    severities: ['due', 'error'],
  },
  ({ inventory, facts }) => {
    const wanted = inventory.runtime.cgroupDriver;
    const used = facts.cgroupDriverInUse;
    if (hasKubelet(facts) && used !== 'none' && used !== wanted)
      return [
        {
          severity: 'error',
          message: `pods run by the cgroup driver ${used}, the inventory wants ${wanted}`,
          remedy: `set runtime.cgroupDriver back, or drain the node and restart its containers`,
        },
      ];
    const config = facts.runtimeConfig;
    if (config === 'absent' || config === 'invalid' || hasKubelet(facts) || config.cgroupDriver === wanted) return [];
    return [{ severity: 'due', message: `containerd has the cgroup driver ${config.cgroupDriver}, not ${wanted}` }];
  },
);
