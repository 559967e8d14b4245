import { hasKubelet } from '../cluster/fleet/joined.ts';
import { runsOnWindows } from '../engine/combinators.ts';
import type { Change, Step, Unobserved } from '../engine/step.ts';
import { Refused } from '../errors.ts';
import { NODE_PORTS } from '../host/openings.value.ts';
import type { Inventory, WindowsHost } from '../inventory/inventory.ts';
import { networkPlugin } from '../network/plugins.value.ts';
import type { Watches } from '../shell/watched.ts';
import { powershell } from '../templates.ts';
import type { FirewallRule } from './network.facts.ts';

/** Windows features that the host needs. */
const desiredFeatures = ({ windows }: WindowsHost): readonly string[] =>
  windows.hyperv === 'on' ? ['Containers', 'Hyper-V', 'Hyper-V-PowerShell'] : ['Containers'];

const watches = ({ host }: Unobserved<'windows'>): Watches => ({ features: desiredFeatures(host) });

/** Installs the Windows features that containers need. Some are complete only after a restart. */
export const features: Step<'windows'> = {
  name: 'features',
  watches,
  diff: ({ host, facts }) => {
    const found = facts.features;
    if (found === 'none')
      throw new Refused('no-windows-server', host.name, 'it is no Windows Server: it has no features to install');
    return desiredFeatures(host)
      .filter((name) => !['Installed', 'InstallPending'].includes(found.get(name) ?? 'absent'))
      .map((name): Change => ({
        summary: `install the Windows feature ${name} (found ${found.get(name) ?? 'none'})`,
        apply: async (on) => {
          await on(host).job(
            `feature-${name.toLowerCase()}`,
            powershell('windows/install-feature.ps1', { Name: name }),
          );
        },
      }));
  },
};

/**
 * Restarts the host if a feature waits for it, but never a host that has a kubelet. A feature that is not installed yet
 * counts too, because Windows needs a restart after each: so the plan shows the restart beforehand.
 */
export const restarted: Step<'windows'> = {
  name: 'restarted',
  watches,
  settleMs: 60_000,
  diff: ({ host, facts }) => {
    const found = facts.features;
    const waiting = found === 'none' ? [] : desiredFeatures(host).filter((name) => found.get(name) !== 'Installed');
    if (waiting.length === 0) return [];
    const why = `${waiting.join(', ')} needs a restart`;
    if (!host.windows.allowReboot)
      return [{ summary: `restart ${host.name} yourself: windows.allowReboot is false (${why})` }];
    if (hasKubelet(facts))
      return [{ summary: `restart ${host.name} yourself: kbuild restarts no Windows host that has joined (${why})` }];
    return [{ summary: `restart ${host.name} (${why})`, apply: (on) => on(host).restart() }];
  },
};

interface Rule {
  readonly name: string;
  readonly title: string;
  readonly protocol: 'TCP' | 'UDP';
  readonly port: string;
}

/** Rules for the ports of a Windows node that other hosts connect to. */
function desiredRules(inventory: Inventory): readonly Rule[] {
  const vxlan = networkPlugin(inventory).vxlanPort(inventory);
  return [
    { name: 'kbuild-kubelet', title: 'kubelet', protocol: 'TCP', port: '10250' },
    { name: 'kbuild-kube-proxy', title: 'health of kube-proxy', protocol: 'TCP', port: '10256' },
    {
      name: 'kbuild-node-ports',
      title: 'Services of type NodePort',
      protocol: 'TCP',
      port: `${NODE_PORTS.first}-${NODE_PORTS.last}`,
    },
    ...(vxlan === undefined
      ? []
      : [{ name: 'kbuild-vxlan', title: 'VXLAN', protocol: 'UDP', port: String(vxlan) } as const]),
  ];
}

/** Every rule that kbuild may have created, also for an earlier inventory. */
const firewallWatches: Watches = {
  firewallRules: ['kbuild-kubelet', 'kbuild-kube-proxy', 'kbuild-node-ports', 'kbuild-vxlan'],
};

const isDesired = (found: FirewallRule | undefined, { protocol, port }: Rule): boolean =>
  found !== undefined &&
  found.enabled &&
  found.direction === 'Inbound' &&
  found.action === 'Allow' &&
  found.protocol === protocol &&
  found.port === port;

/** Opens the ports of a node in Windows Firewall. */
export const firewall: Step<'windows'> = {
  name: 'firewall',
  watches: firewallWatches,
  diff: ({ inventory, host, facts }) =>
    desiredRules(inventory)
      .filter((rule) => !isDesired(facts.firewall.rules.get(rule.name), rule))
      .map((rule): Change => {
        const found = facts.firewall.rules.has(rule.name) ? 'found another' : 'found none';
        return {
          summary: `let ${rule.protocol} ${rule.port} in for ${rule.title} (${found})`,
          apply: runsOnWindows(
            host,
            powershell('windows/set-firewall-rule.ps1', {
              Name: rule.name,
              DisplayName: `Kubernetes: ${rule.title}`,
              Protocol: rule.protocol,
              Port: rule.port,
            }),
          ),
        };
      }),
};

/** Removes the firewall rules that kbuild created. */
export const noFirewallRules: Step<'windows'> = {
  name: 'no-firewall-rules',
  watches: firewallWatches,
  diff: ({ host, facts }) => {
    const found = [...facts.firewall.rules.keys()].filter((name) => name.startsWith('kbuild-'));
    if (found.length === 0) return [];
    return [
      {
        summary: `remove firewall rules (found ${found.join(', ')})`,
        apply: runsOnWindows(host, powershell('windows/remove-firewall-rules.ps1', { Names: found })),
      },
    ];
  },
};
