import { eachHost } from './each-host.ts';

/** kubeadm's ControlPlaneMem. */
const CONTROL_PLANE_MIB = 1700;
const WORKER_MIB = 700;

export const memory = eachHost(
  {
    name: 'memory',
    title: 'a control plane has 1700 MiB of memory or more, a worker 700 MiB',
    why: "1700 MiB is kubeadm's own limit. A worker with less than 700 MiB has room for little but the kubelet, the runtime and the network.",
    severities: ['error', 'warning'],
  },
  ({ host, facts }) => {
    const found = `has ${String(facts.memoryMiB)} MiB of memory`;
    if (host.role === 'control-plane' && facts.memoryMiB < CONTROL_PLANE_MIB)
      return [{ severity: 'error', message: `${found}, and a control plane needs ${String(CONTROL_PLANE_MIB)}` }];
    if (facts.memoryMiB < WORKER_MIB)
      return [{ severity: 'warning', message: `${found}, and ${String(WORKER_MIB)} are advised` }];
    return [];
  },
);
