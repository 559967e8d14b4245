import { eachWindowsHost } from '../each-host.ts';

export const windowsFeatures = eachWindowsHost(
  {
    name: 'windows-features',
    title: 'the Windows feature Containers is there',
    why: '`up` installs it and restarts the host, before it joins; with `windows.allowReboot: false` you restart it. It is found missing only on a server; no other Windows has it.',
    severities: ['due', 'error'],
  },
  ({ facts }) => {
    if (facts.features === 'none')
      return [{ severity: 'error', message: 'has no Windows features to install: it is no server' }];
    const state = facts.features.get('Containers');
    if (state === 'Installed') return [];
    if (state === 'Removed')
      return [
        {
          severity: 'error',
          message: 'the files of the feature Containers were removed from this Windows',
          remedy: 'Install-WindowsFeature Containers -Source PATH, with the installation medium',
        },
      ];
    return [
      {
        severity: 'due',
        message: `the Windows feature Containers is ${state === 'InstallPending' ? 'waiting for a restart' : 'not installed'}`,
      },
    ];
  },
);
