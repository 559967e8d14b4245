import { eachHost } from './each-host.ts';

/** kubeadm's SystemVerification. */
const NEEDED = ['cpu', 'cpuset', 'memory', 'pids'];

export const cgroupControllers = eachHost(
  {
    name: 'cgroup-controllers',
    title: 'the cgroup controllers cpu, cpuset, memory and pids are on',
    why: "A controller may be switched off on the kernel's command line (`cgroup_disable=memory`, the default of Raspberry Pi OS: add `cgroup_enable=memory` there and reboot).",
    severities: ['error'],
  },
  ({ facts }) => {
    const missing = NEEDED.filter((name) => !facts.cgroupControllers.has(name));
    if (missing.length === 0) return [];
    return [
      {
        severity: 'error',
        message: `the kernel has switched off the cgroup controllers ${missing.join(', ')}`,
        remedy: "switch them on at the kernel's command line (cgroup_enable=…) and reboot",
      },
    ];
  },
);
