import type { Change, Step, Target } from '../engine/step.ts';
import type { LinuxHost } from '../model/inventory.ts';
import { paths } from '../paths.ts';
import { script } from '../templates.ts';

/** True where the kubelet is told to live with swap (`failSwapOn: false`): kbuild then leaves swap alone. */
export const toleratesSwap = ({ kubelet }: LinuxHost): boolean => kubelet.config['failSwapOn'] === false;

interface Part {
  readonly summary: string;
  /** What `swap-off.sh` is told to do. */
  readonly parameters: Readonly<Record<string, string | readonly string[]>>;
}

function parts({ swaps, fstabSwaps, swapUnits, zram }: Target['facts']): readonly Part[] {
  const units = swapUnits.map(({ name }) => name);
  const fstab = fstabSwaps.map((line) => line.trim().split(/\s+/)[0]!);
  return [
    ...(zram === 'on'
      ? [
          {
            summary: `switch zram swap off (found a zram-generator configuration)`,
            parameters: { ZRAM: paths.zramGenerator },
          },
        ]
      : []),
    ...(units.length > 0
      ? [{ summary: `mask ${units.join(', ')} (found not masked)`, parameters: { UNITS: units } }]
      : []),
    ...(fstab.length > 0
      ? [
          {
            summary: `comment swap out of /etc/fstab (found ${fstab.join(', ')})`,
            parameters: { FSTAB_BACKUP: paths.fstabBackup },
          },
        ]
      : []),
    ...(swaps.length > 0
      ? [{ summary: `turn swap off (found ${swaps.join(', ')})`, parameters: { ACTIVE: 'yes' } }]
      : []),
  ];
}

/** No swap now and none after a reboot: the kubelet refuses to start with swap on. */
export const swapOff: Step = {
  name: 'swap-off',
  diff: ({ host, facts }) =>
    toleratesSwap(host)
      ? []
      : parts(facts).map(({ summary, parameters }): Change => ({
          summary,
          apply: async (on) => {
            const all = { ZRAM: '', UNITS: [], FSTAB_BACKUP: '', ACTIVE: '', ...parameters };
            await on(host).run(script('linux/swap-off.sh', all));
          },
        })),
};
