import { eachWindowsHost } from '../each-host.ts';

export const windowsHostname = eachWindowsHost(
  {
    name: 'windows-hostname',
    title: 'a Windows host calls itself what the inventory calls it',
    why: 'The kubelet is told its name, so the node is right either way; people who look for the machine, and programs that ask Windows for its name, are not.',
    severities: ['warning'],
  },
  ({ host, facts }) => {
    const { hostname } = facts.machine;
    return hostname.toLowerCase() === host.name
      ? []
      : [
          {
            severity: 'warning',
            message: `calls itself ${hostname}`,
            remedy: `Rename-Computer -NewName ${host.name} -Restart, before it joins`,
          },
        ];
  },
);
