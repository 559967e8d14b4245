import { hasKubelet } from '../cluster/fleet/joined.ts';
import { type CheckGroup, eachWindowsHost, type HostFinding } from '../engine/check.ts';
import { windowsServices } from '../network/plugins.value.ts';

const windowsAddress = eachWindowsHost(
  {
    name: 'windows-address',
    title: 'a Windows host has its internalAddress on the adapter of its one default route',
    why:
      'The kubelet, the network plugin and HNS bind to this address and its adapter. HNS moves the address to a ' +
      'virtual adapter (`vEthernet`), which is fine; an address that DHCP may change is not.',
    severities: ['error', 'warning'],
  },
  ({ host, facts }) => {
    const { addresses, defaultRoutes } = facts.network;
    const own = addresses.find(({ address }) => address === host.internalAddress);
    if (own === undefined)
      return [
        {
          severity: 'error',
          message:
            `has no address ${host.internalAddress} (found ` +
            `${addresses.map(({ address }) => address).join(', ') || 'none'})`,
          remedy: 'set internalAddress to one that it has',
        },
      ];
    const routes = new Set(defaultRoutes.map(({ index }) => index));
    return [
      ...(routes.size === 0
        ? [{ severity: 'error' as const, message: 'has no default route: the network plugin finds no adapter' }]
        : []),
      ...(routes.size > 1
        ? [
            {
              severity: 'warning' as const,
              message: 'has default routes on several adapters: the network plugin may take the wrong one',
            },
          ]
        : []),
      ...(own.origin === 'Dhcp'
        ? [
            {
              severity: 'warning' as const,
              message: `has ${host.internalAddress} from DHCP; a node's address must not change`,
              remedy: 'reserve it, or set it by hand',
            },
          ]
        : []),
    ];
  },
);

const windowsHostname = eachWindowsHost(
  {
    name: 'windows-hostname',
    title: 'the hostname of a Windows host is its name in the inventory',
    why:
      'The node gets its name from the inventory in any case. Programs that ask Windows for the hostname, and ' +
      'operators who search for the machine, find another name.',
    severities: ['warning'],
  },
  ({ host, facts }) => {
    const { hostname } = facts.machine;
    return hostname.toLowerCase() === host.name
      ? []
      : [
          {
            severity: 'warning',
            message: `calls itself ${hostname}`,
            remedy: `Rename-Computer -NewName ${host.name} -Restart, before it joins`,
          },
        ];
  },
);

const windowsMacSpoofing = eachWindowsHost(
  {
    name: 'windows-mac-spoofing',
    title: 'the hypervisor lets a Windows virtual machine use other MAC addresses',
    why:
      'Pods have MAC addresses of their own. By default Hyper-V and VMware drop packets of such addresses, and ' +
      'the pods cannot reach other hosts. kbuild cannot observe this from inside the machine, so it warns of ' +
      'every virtual machine that is about to join.',
    severities: ['warning'],
  },
  ({ inventory, facts }) => {
    const { manufacturer, model } = facts.machine;
    const isVirtual = /virtual|vmware|qemu|kvm|xen|standard pc/i.test(`${manufacturer} ${model}`);
    if (!isVirtual || hasKubelet(facts) || inventory.network.windows === undefined) return [];
    return [
      {
        severity: 'warning',
        message: `is a virtual machine (${manufacturer} ${model}); its hypervisor must allow other MAC addresses`,
        remedy: 'Hyper-V: Set-VMNetworkAdapter -MacAddressSpoofing On; VMware: forged transmits and MAC changes',
      },
    ];
  },
);

/** Programs of Kubernetes and its network. HNS listens at the VXLAN port as `system` or `svchost`. */
const ALLOWED_PROGRAMS: ReadonlySet<string> = new Set([
  'kubelet',
  'kube-proxy',
  ...windowsServices,
  'system',
  'svchost',
]);

const windowsPorts = eachWindowsHost(
  {
    name: 'windows-ports',
    title: 'no other program listens at the ports of a Windows node',
    why:
      'The kubelet (10250), kube-proxy (10256) and VXLAN (UDP 4789) need theirs. VMware NSX inside the machine, ' +
      'for one, takes the last.',
    severities: ['error'],
  },
  ({ facts }) =>
    facts.listeners
      .filter(({ program }) => !ALLOWED_PROGRAMS.has(program.toLowerCase()))
      .map(({ protocol, port, program }) => ({
        severity: 'error',
        message:
          `${protocol.toUpperCase()} port ${String(port)} is taken ` +
          `by ${program === '' ? 'another program' : program}`,
        remedy: 'stop that program, or take it off this host',
      })),
);

const windowsReach = eachWindowsHost(
  {
    name: 'windows-reach',
    title: 'a Windows host reaches the API endpoint, and where its programs and images come from',
    why:
      'Without the endpoint it cannot join; without its sources nothing can be installed, without the registry ' +
      'no pod starts. With a proxy in the inventory the proxy is tried. `windows.downloads.via: operator` sends ' +
      'programs over SSH instead.',
    severities: ['error', 'warning'],
  },
  ({ inventory, host, facts, fleet }) => {
    const endpoint = inventory.endpoint;
    return [...facts.reach].flatMap(([target, problem]): readonly HostFinding[] => {
      if (problem === '') return [];
      const message = `does not reach ${target}: ${problem}`;
      // Before the cluster exists, no API server listens at the endpoint.
      if (target === endpoint) return fleet.cluster.state === 'up' ? [{ severity: 'error', message }] : [];
      if (hasKubelet(facts)) return [{ severity: 'warning', message }];
      const remedy =
        host.windows.downloads.via === 'host'
          ? 'open the way, set proxy:, or windows.downloads.via: operator'
          : 'open the way, or set proxy:';
      return [{ severity: 'error', message, remedy }];
    });
  },
);

const windowsSsh = eachWindowsHost(
  {
    name: 'windows-ssh',
    title: 'the SSH server comes back after a restart',
    why:
      'A feature restarts the host. If `sshd` does not start by itself then, or the firewall blocks SSH on the ' +
      "profile of the network (Server 2025's own rule leaves out Public), kbuild can no longer connect.",
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

export const windowsNetworkChecks: CheckGroup = {
  windows: [windowsHostname, windowsSsh, windowsAddress, windowsMacSpoofing, windowsPorts, windowsReach],
};
