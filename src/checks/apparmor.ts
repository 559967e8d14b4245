import { eachHost } from './each-host.ts';

export const apparmor = eachHost(
  {
    name: 'apparmor',
    title: 'where the kernel has AppArmor, its tools are installed',
    why: 'Without `apparmor_parser` the runtime loads no profile, and containers run unconfined. The package `apparmor` brings it.',
    severities: ['warning'],
  },
  ({ facts }) =>
    facts.securityModules.apparmor === 'toolless'
      ? [
          {
            severity: 'warning',
            message: 'the kernel has AppArmor, and apparmor_parser is missing: containers will run unconfined',
            remedy: 'install apparmor',
          },
        ]
      : [],
);
