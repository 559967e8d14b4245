import { type CheckGroup, eachHost, type HostFinding } from '../engine/check.ts';
import type { LinuxHost } from '../inventory/inventory.ts';
import { isObject } from '../shell/decode.ts';

/** Why pods of the host get no swap although the inventory gives them some; the kubelet says nothing of it. */
function withoutEffect(
  { kubelet: { config } }: LinuxHost,
  { cgroupVersion, swaps }: { readonly cgroupVersion: 1 | 2; readonly swaps: readonly string[] },
): readonly HostFinding[] {
  const { memorySwap } = config;
  if (!isObject(memorySwap) || memorySwap['swapBehavior'] !== 'LimitedSwap') return [];
  const [message, remedy] =
    config['failSwapOn'] !== false
      ? ['`up` turns swap off', 'set kubelet.config.failSwapOn: false beside it']
      : cgroupVersion === 1
        ? ['the host has cgroup v1', 'boot it with cgroup v2, or remove memorySwap']
        : swaps.length === 0
          ? ['the host has no swap', 'make some, and enter it in /etc/fstab']
          : [];
  if (message === undefined) return [];
  return [
    {
      severity: 'warning',
      message: `memorySwap.swapBehavior: LimitedSwap gives pods no swap: ${message}`,
      ...(remedy === undefined ? {} : { remedy }),
    },
  ];
}

const swap = eachHost(
  {
    name: 'swap',
    title: 'no swap now or at the next boot, unless `kubelet.config.failSwapOn: false`',
    why:
      'The kubelet refuses to start with swap on. `up` turns it off and masks its units; a unit file in ' +
      '`/etc/systemd/system` cannot be masked and must be removed by hand. `memorySwap.swapBehavior: LimitedSwap` ' +
      'without swap, or with cgroup v1, has no effect, and the kubelet says nothing of it.',
    severities: ['due', 'error', 'warning'],
  },
  ({ host, facts }) => {
    if (host.kubelet.config['failSwapOn'] === false) return withoutEffect(host, facts);
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
      ...withoutEffect(host, facts),
      ...(found.length === 0 ? [] : [{ severity: 'due' as const, message: `swap is on: ${found.join(', ')}` }]),
    ];
  },
);

export const swapChecks: CheckGroup = { host: [swap] };
