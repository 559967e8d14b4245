import { eachHost } from './each-host.ts';

export const packageManager = eachHost(
  {
    name: 'package-manager',
    title: 'no package is half installed',
    why: `The package manager installs nothing until an interrupted installation is finished. \`up\` does that first.`,
    severities: ['due'],
  },
  ({ facts }) => {
    const broken = facts.brokenPackages;
    if (broken.length === 0) return [];
    const found = broken.map(({ name, state }) => `${name} is ${state}`).join(', ');
    return [{ severity: 'due', message: `an installation of packages was cut off: ${found}` }];
  },
);
