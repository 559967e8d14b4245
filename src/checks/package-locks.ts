import { eachHost } from './each-host.ts';

export const packageLocks = eachHost(
  {
    name: 'package-locks',
    title: 'no other program holds a lock of the package manager',
    why: 'Usually unattended-upgrades, or an installation by hand. `up` waits for it up to ten minutes; never delete the lock files.',
    severities: ['warning'],
  },
  ({ facts }) => {
    const holders = new Set(facts.packageLocks.map(({ process, pid }) => `${process} (process ${String(pid)})`));
    return [...holders].map((who) => ({
      severity: 'warning',
      message: `${who} holds a lock of the package manager; up would wait for it`,
    }));
  },
);
