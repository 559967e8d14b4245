import { eachWindowsHost } from '../each-host.ts';

/** Builds of Windows Server 2022 and 2025, which Kubernetes supports (source: its documentation). */
const SUPPORTED: ReadonlySet<string> = new Set(['20348', '26100']);

export const windowsBuild = eachWindowsHost(
  {
    name: 'windows-build',
    title: 'the host runs Windows Server 2022 or 2025',
    why: 'Kubernetes supports these builds, and containers only run on the build that they were made for. `windows.allowUnsupportedOs: true` lowers another Windows Server to a warning; a Windows that is no server has no container features at all.',
    severities: ['error', 'warning'],
  },
  ({ host, facts }) => {
    const { build, caption, productType } = facts.machine;
    if (productType === 1)
      return [
        { severity: 'error', message: `runs ${caption}, which is no server`, remedy: 'install Windows Server 2025' },
      ];
    if (SUPPORTED.has(build)) return [];
    return [
      {
        severity: host.windows.allowUnsupportedOs ? 'warning' : 'error',
        message: `runs ${caption} (build ${build}); Kubernetes supports Server 2022 (20348) and 2025 (26100)`,
        remedy: 'install Windows Server 2025, or set windows.allowUnsupportedOs: true',
      },
    ];
  },
);
