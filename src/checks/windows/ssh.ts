import { eachWindowsHost, type HostFinding } from '../each-host.ts';

export const windowsSsh = eachWindowsHost(
  {
    name: 'windows-ssh',
    title: 'the SSH server comes back after a restart',
    why: "A feature restarts the host. If `sshd` does not start by itself then, or the firewall blocks SSH on the profile of the network (Server 2025's own rule leaves out Public), kbuild can no longer connect.",
    severities: ['warning', 'error'],
    watches: { units: ['sshd'], firewallRules: ['OpenSSH-Server-In-TCP'] },
  },
  ({ facts }) => {
    const found: HostFinding[] = [];
    const mode = facts.services.get('sshd')?.startMode;
    if (mode !== undefined && mode !== 'Auto')
      found.push({
        severity: 'error',
        message: `sshd does not start by itself (${mode})`,
        remedy: 'Set-Service sshd -StartupType Automatic',
      });
    const rule = facts.firewall.rules.get('OpenSSH-Server-In-TCP');
    const isPublic = facts.network.networks.some(({ category }) => category === 'Public');
    if (
      isPublic &&
      facts.firewall.profiles.includes('Public') &&
      rule !== undefined &&
      !/Any|Public/.test(rule.profile)
    )
      found.push({
        severity: 'warning',
        message: `its network counts as Public, and the firewall's rule for SSH holds for ${rule.profile} only`,
        remedy: 'Set-NetFirewallRule OpenSSH-Server-In-TCP -Profile Any',
      });
    return found;
  },
);
