import { eachWindowsHost } from '../each-host.ts';

export const windowsHostname = eachWindowsHost(
  {
    name: 'windows-hostname',
    title: 'the hostname of a Windows host is its name in the inventory',
    why: 'The node gets its name from the inventory in any case. Programs that ask Windows for the hostname, and operators who search for the machine, find another name.',
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
