import { eachWindowsHost } from '../each-host.ts';

export const windowsDocker = eachWindowsHost(
  {
    name: 'windows-docker',
    title: 'no Docker runs beside containerd',
    why: "Docker brings HNS networks and a containerd of its own, and tools that look for a runtime find two. kbuild always names containerd's pipe, so this is only a warning.",
    severities: ['warning'],
    watches: { units: ['docker'] },
  },
  ({ facts }) =>
    facts.services.has('docker')
      ? [
          {
            severity: 'warning',
            message: 'has the service docker',
            remedy: 'remove Docker, or take the machine for nothing else',
          },
        ]
      : [],
);
