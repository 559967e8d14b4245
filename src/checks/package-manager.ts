import { eachHost } from './each-host.ts';

/** What dpkg itself cannot finish by configuring again (dpkg(1), --audit). */
const BEYOND_REPAIR = /must be\s+reinstalled|missing|inconsistent/i;

/** No package is left half installed: `up` finishes what can be finished. */
export const packageManager = eachHost('package-manager', ({ facts }) => {
  const audit = facts.dpkgAudit;
  if (audit === '') return [];
  if (BEYOND_REPAIR.test(audit))
    return [
      {
        severity: 'error',
        message: `dpkg has packages that it cannot repair: ${audit.split('\n').join(' ')}`,
        remedy: 'reinstall or remove the packages that "dpkg --audit" names',
      },
    ];
  return [{ severity: 'due', message: `an installation of packages was cut off: ${audit.split('\n')[0]!}` }];
});
