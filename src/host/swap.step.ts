import { runs } from '../engine/combinators.ts';
import type { Change, Step, Target } from '../engine/step.ts';
import type { LinuxHost } from '../inventory/inventory.ts';
import { paths } from '../paths.ts';
import { script } from '../templates.ts';

/** True if the kubelet accepts swap (`failSwapOn: false`): kbuild then leaves swap on. */
const toleratesSwap = ({ kubelet }: LinuxHost): boolean => kubelet.config['failSwapOn'] === false;

interface Part {
  readonly isFound: boolean;
  readonly summary: string;
  /** Parameters of `swap-off.sh`. */
  readonly parameters: Readonly<Record<string, string | readonly string[]>>;
}

function parts({ swaps, fstabSwaps, swapUnits, zram }: Target['facts']): readonly Part[] {
  const units = swapUnits.map(({ name }) => name);
  const fstab = fstabSwaps.map((line) => line.trim().split(/\s+/)[0]!);
  const all: readonly Part[] = [
    {
      isFound: zram === 'on',
      summary: 'switch zram swap off (found a zram-generator configuration)',
      parameters: { ZRAM: paths.zramGenerator },
    },
    {
      isFound: units.length > 0,
      summary: `mask ${units.join(', ')} (found not masked)`,
      parameters: { UNITS: units },
    },
    {
      isFound: fstab.length > 0,
      summary: `comment swap out of /etc/fstab (found ${fstab.join(', ')})`,
      parameters: { FSTAB_BACKUP: paths.fstabBackup },
    },
    { isFound: swaps.length > 0, summary: `turn swap off (found ${swaps.join(', ')})`, parameters: { ACTIVE: 'yes' } },
  ];
  return all.filter(({ isFound }) => isFound);
}

/** Turns swap off, now and after a reboot: the kubelet refuses to start with swap on. */
export const swapOff: Step = {
  name: 'swap-off',
  diff: ({ host, facts }) =>
    toleratesSwap(host)
      ? []
      : parts(facts).map(({ summary, parameters }): Change => ({
          summary,
          apply: runs(
            host,
            script('host/swap-off.sh', { ZRAM: '', UNITS: [], FSTAB_BACKUP: '', ACTIVE: '', ...parameters }),
          ),
        })),
};
