import { eachHost } from './each-host.ts';

export const selinux = eachHost(
  {
    name: 'selinux',
    title: 'SELinux is not enforcing',
    why: 'kbuild leaves SELinux as it is. Under an enforcing one containers run as spc_t, without isolation by SELinux, if the host has the policy of container-selinux; its repositories bring it along with the runtime. This comes from the policy and was not run in the lab.',
    severities: ['warning'],
  },
  ({ facts }) =>
    facts.securityModules.selinux === 'enforcing'
      ? [
          {
            severity: 'warning',
            message: 'SELinux is enforcing and stays so; it does not isolate containers from each other',
            remedy: 'if something may not read or start: ausearch -m avc -ts recent, and restorecon -Rv /etc',
          },
        ]
      : [],
);
