import { type CheckGroup, eachHost } from '../engine/check.ts';

const swap = eachHost(
  {
    name: 'swap',
    title: 'no swap now or at the next boot, unless `kubelet.config.failSwapOn: false`',
    why:
      'The kubelet refuses to start with swap on. `up` turns it off and masks its units; a unit file in ' +
      '`/etc/systemd/system` cannot be masked and must be removed by hand.',
    severities: ['due', 'error'],
  },
  ({ host, facts }) => {
    if (host.kubelet.config['failSwapOn'] === false) return [];
    const { swaps, fstabSwaps, swapUnits, zram } = facts;
    // `systemctl mask` puts a link where these files are, and does not replace a file.
    const stubborn = swapUnits.filter(({ file }) => file.startsWith('/etc/systemd/system/'));
    const found = [
      ...swaps,
      ...fstabSwaps.map((line) => `${line.trim().split(/\s+/)[0]!} in /etc/fstab`),
      ...swapUnits.filter((unit) => !stubborn.includes(unit)).map(({ name }) => name),
      ...(zram === 'on' ? ['zram-generator'] : []),
    ];
    return [
      ...stubborn.map(({ name, file }) => ({
        severity: 'error' as const,
        message: `${name} turns swap on and cannot be masked: its file is ${file}`,
        remedy: `remove ${file}, or tell the kubelet to live with swap (kubelet.config.failSwapOn: false)`,
      })),
      ...(found.length === 0 ? [] : [{ severity: 'due' as const, message: `swap is on: ${found.join(', ')}` }]),
    ];
  },
);

export const swapChecks: CheckGroup = { host: [swap] };
