import { SELINUX_POLICY, selinuxPolicy } from '../components/selinux.ts';
import { knownDistribution } from '../components/distributions/index.ts';
import { eachHost, type HostFinding, type HostSeen } from './each-host.ts';

const WITHOUT = 'take runtime.selinux away from this host: let only groups of other hosts have it';

/** What keeps SELinux from confining containers, though the inventory asks for it. */
function confined(seen: HostSeen): readonly HostFinding[] {
  const { selinux } = seen.facts.securityModules;
  if (selinux === 'absent')
    return [
      {
        severity: 'error',
        message: 'has no SELinux, or it is switched off, and the inventory asks for runtime.selinux',
        remedy: `switch it on and reboot; or ${WITHOUT}`,
      },
    ];
  if (selinuxPolicy(seen) === 'none')
    return [
      {
        severity: 'error',
        message: `${knownDistribution(seen.facts)?.name ?? 'the system'} has no package ${SELINUX_POLICY}, without which the runtime cannot label containers`,
        remedy: WITHOUT,
      },
    ];
  return selinux === 'enforcing'
    ? []
    : [
        {
          severity: 'warning',
          message: 'SELinux is permissive: containers get labels, and nothing is denied to them',
          remedy: 'setenforce 1 when the log has no denials any more: ausearch -m avc -ts recent',
        },
      ];
}

export const selinux = eachHost(
  {
    name: 'selinux',
    title: 'SELinux confines containers if the inventory asks for it, and is not enforcing otherwise',
    why: 'kbuild never switches SELinux on or off. Without `runtime.selinux` containers run as spc_t under an enforcing SELinux, without isolation by it, if the host has the policy of container-selinux; its repositories bring it along with the runtime. With `runtime.selinux: true` they are confined, and a host without SELinux or without the policy is refused ([hosts](hosts.md#selinux)). With container-selinux none of it was run; an enforcing host without it was, in the lab.',
    severities: ['error', 'warning'],
  },
  (seen) => {
    const { inventory, host, facts } = seen;
    if (inventory.runtime.selinux && host.role !== 'load-balancer') return confined(seen);
    return facts.securityModules.selinux === 'enforcing'
      ? [
          {
            severity: 'warning',
            message: 'SELinux is enforcing and stays so; it does not isolate containers from each other',
            remedy:
              'if something may not read or start: ausearch -m avc -ts recent, and restorecon -Rv /etc; to confine containers: runtime.selinux',
          },
        ]
      : [];
  },
);
