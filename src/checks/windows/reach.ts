import { hasKubelet } from '../../facts/joined.ts';
import { eachWindowsHost, type HostFinding } from '../each-host.ts';

export const windowsReach = eachWindowsHost(
  {
    name: 'windows-reach',
    title: 'a Windows host reaches the API endpoint, and where its programs and images come from',
    why: 'Without the endpoint it cannot join; without its sources nothing can be installed, without the registry no pod starts. With a proxy in the inventory the proxy is tried. `windows.downloads.via: operator` sends programs over SSH instead.',
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
