import { eachWindowsHost } from '../each-host.ts';

const NEEDED_MIB = 15 * 1024;
const ADVISED_MIB = 50 * 1024;

export const windowsDisk = eachWindowsHost(
  {
    name: 'windows-disk',
    title: 'the system drive is NTFS and has room for images',
    why: 'An image of Windows takes gigabytes, and containerd lays its layers only on NTFS.',
    severities: ['error', 'warning'],
  },
  ({ facts }) => {
    const { freeMiB, fileSystem } = facts.volume;
    const free = `has ${String(Math.floor(freeMiB / 1024))} GiB free on C:`;
    return [
      ...(fileSystem === 'NTFS'
        ? []
        : [{ severity: 'error' as const, message: `has ${fileSystem} on C:, and NTFS is needed` }]),
      ...(freeMiB < NEEDED_MIB
        ? [{ severity: 'error' as const, message: `${free}, and ${String(NEEDED_MIB / 1024)} are needed` }]
        : freeMiB < ADVISED_MIB
          ? [{ severity: 'warning' as const, message: `${free}, and ${String(ADVISED_MIB / 1024)} are advised` }]
          : []),
    ];
  },
);
