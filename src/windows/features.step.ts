import { hasKubelet } from '../cluster/fleet/joined.ts';
import type { Change, Step, Unobserved } from '../engine/step.ts';
import { Refused } from '../errors.ts';
import type { WindowsHost } from '../inventory/inventory.ts';
import type { Watches } from '../shell/watched.ts';
import { powershell } from '../templates.ts';

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
