import { isOfImage } from '../components/distributions/index.ts';
import { eachHost } from './each-host.ts';

export const writablePaths = eachHost(
  {
    name: 'writable-paths',
    title: 'nothing that matters is mounted read-only',
    why: '`mount -o remount,rw PATH`; a file system that the kernel made read-only after an error wants `fsck` first (`dmesg` tells).',
    severities: ['error'],
  },
  ({ facts }) => {
    const points = new Map<string, string[]>();
    for (const { path, mountPoint, readOnly } of facts.storage)
      if (readOnly && !isOfImage(facts, path)) points.set(mountPoint, [...(points.get(mountPoint) ?? []), path]);
    return [...points].map(([point, paths]) => ({
      severity: 'error',
      message: `${point} is mounted read-only, and ${paths.join(', ')} must be written`,
      remedy: `mount -o remount,rw ${point}; if the kernel made it read-only, check the disk first (dmesg)`,
    }));
  },
);
