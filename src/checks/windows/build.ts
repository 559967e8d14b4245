import { networkPlugin } from '../../components/network-plugins/index.ts';
import { eachWindowsHost } from '../each-host.ts';

/** Server 2019 and older have no bindflt: the mounts of a HostProcess pod are not where the pods of kbuild look. */
const FIRST_WITH_BINDFLT = 20_000;

/** Builds of Windows Server 2022 and 2025, which Kubernetes supports (source: its documentation). */
const SUPPORTED: ReadonlySet<string> = new Set(['20348', '26100']);

export const windowsBuild = eachWindowsHost(
  {
    name: 'windows-build',
    title: 'the host runs Windows Server 2022 or 2025',
    why: 'Kubernetes supports these builds, and containers only run on the build that they were made for. `windows.allowUnsupportedOs: true` lowers another Windows Server to a warning; On Server 2019 only `network.windows.services: true` is possible, because mounts of HostProcess pods are elsewhere there. A Windows that is no server has no container features at all.',
    severities: ['error', 'warning'],
  },
  ({ inventory, host, facts }) => {
    const { build, caption, productType } = facts.machine;
    if (productType === 1)
      return [
        { severity: 'error', message: `runs ${caption}, which is no server`, remedy: 'install Windows Server 2025' },
      ];
    if (SUPPORTED.has(build)) return [];
    const network = inventory.network.windows;
    if (host.windows.allowUnsupportedOs && Number(build) < FIRST_WITH_BINDFLT && network?.services === false)
      return [
        {
          severity: 'error',
          message: `runs ${caption} (build ${build}), on which the network cannot run in pods: it has no bindflt, so their files are elsewhere`,
          remedy:
            networkPlugin(inventory).windows?.services.length === 0
              ? 'install Windows Server 2025, or take a network plugin that can be services (network.windows.services: true)'
              : 'set network.windows.services: true, or install Windows Server 2025',
        },
      ];
    return [
      {
        severity: host.windows.allowUnsupportedOs ? 'warning' : 'error',
        message: `runs ${caption} (build ${build}); Kubernetes supports Server 2022 (20348) and 2025 (26100)`,
        remedy: 'install Windows Server 2025, or set windows.allowUnsupportedOs: true',
      },
    ];
  },
);
