import { eachHost } from './each-host.ts';

export const initSystem = eachHost(
  {
    name: 'init-system',
    title: 'systemd is process 1',
    why: `The kubelet, the runtime and kbuild's jobs are units of systemd, whatever the cgroup driver.`,
    severities: ['error'],
  },
  ({ facts }) =>
    facts.initSystem === 'systemd'
      ? []
      : [{ severity: 'error', message: `process 1 is ${facts.initSystem}, and only systemd is supported` }],
);
