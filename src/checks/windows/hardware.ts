import { eachWindowsHost } from '../each-host.ts';

const CPUS = 4;
/** kbuild reserves 2 GiB for Windows. With less memory than this, no pod fits. */
const NEEDED_MIB = 3500;
const ADVISED_MIB = 7500;

export const windowsHardware = eachWindowsHost(
  {
    name: 'windows-hardware',
    title: 'a Windows host has four CPUs, 8 GiB of memory and a page file',
    why: 'Windows itself takes 2 GiB, and every Windows container is larger than a Linux one. Windows has no limit that kills a pod for its memory: without a page file it stalls, or ends processes at random.',
    severities: ['error', 'warning'],
  },
  ({ facts }) => {
    const { cpus, memoryMiB, pageFileMiB } = facts.machine;
    return [
      ...(cpus < CPUS
        ? [{ severity: 'warning' as const, message: `has ${String(cpus)} CPUs, and ${String(CPUS)} are advised` }]
        : []),
      ...(memoryMiB < NEEDED_MIB
        ? [
            {
              severity: 'error' as const,
              message: `has ${String(memoryMiB)} MiB of memory, and ${String(NEEDED_MIB)} are needed`,
            },
          ]
        : memoryMiB < ADVISED_MIB
          ? [
              {
                severity: 'warning' as const,
                message: `has ${String(memoryMiB)} MiB of memory, and ${String(ADVISED_MIB)} are advised`,
              },
            ]
          : []),
      ...(pageFileMiB === 0
        ? [{ severity: 'warning' as const, message: 'has no page file', remedy: 'let Windows manage one on C:' }]
        : []),
    ];
  },
);
