import { eachHost } from './each-host.ts';

/** No package is left half installed: apt would refuse any other. `up` configures and reinstalls them. */
export const packageManager = eachHost('package-manager', ({ facts }) => {
  const broken = facts.brokenPackages;
  if (broken.length === 0) return [];
  const found = broken.map(({ name, state }) => `${name} is ${state}`).join(', ');
  return [{ severity: 'due', message: `an installation of packages was cut off: ${found}` }];
});
