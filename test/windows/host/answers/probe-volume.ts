import type { Answer } from '../script.ts';

export const answer: Answer = (machine) => ({
  freeMiB: Math.floor(machine.freeDiskBytes / 1024 ** 2),
  fileSystem: machine.extra.get('fileSystem') ?? 'NTFS',
  bitLocker: machine.extra.get('bitLocker') ?? '1',
});
