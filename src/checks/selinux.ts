import { eachHost } from './each-host.ts';

export const selinux = eachHost(
  {
    name: 'selinux',
    title: 'SELinux is not enforcing',
    why: 'kbuild does not configure container labels yet, and changes no security mode by itself. Set SELinux to permissive, or ignore this check when you keep a policy for it.',
    severities: ['error'],
  },
  ({ facts }) =>
    facts.securityModules.selinux === 'enforcing'
      ? [
          {
            severity: 'error',
            message: 'SELinux is enforcing, and kbuild sets up no labels for containers yet',
            remedy: 'set it to permissive in /etc/selinux/config and with setenforce 0',
          },
        ]
      : [],
);
