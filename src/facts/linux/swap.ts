import { sh } from '../../shell/sh.ts';
import { lines, probe } from '../probe.ts';

/** Active swap devices and files, as in /proc/swaps. */
export const swaps = probe(sh`tail -n +2 /proc/swaps`, (out) => lines(out).map((line) => line.split(/\s+/)[0]!));

/** Lines of /etc/fstab that would turn swap on at boot. */
export const fstabSwaps = probe(sh`if [ -e /etc/fstab ]; then cat /etc/fstab; fi`, (out) =>
  lines(out).filter((line) => !/^\s*#/.test(line) && line.trim().split(/\s+/)[2] === 'swap'),
);

/** Swap units that are not masked, generated ones of fstab left out: those go with the fstab line. */
export const swapUnits = probe(
  sh`systemctl list-unit-files --type=swap --no-legend --no-pager --plain || true`,
  (out) =>
    lines(out)
      .map((line) => line.trim().split(/\s+/))
      .filter(([, state]) => state !== 'masked' && state !== 'masked-runtime' && state !== 'generated')
      .map(([unit]) => unit!),
);

/** What zram-generator makes: `absent` (not installed), `off` (an empty file overrides it) or `on`. */
export const zram = probe(
  sh`if [ -e /etc/systemd/zram-generator.conf ]; then
       if grep -q '^ *[[]zram' /etc/systemd/zram-generator.conf; then echo on; else echo off; fi
     elif ls /usr/lib/systemd/zram-generator.conf /usr/local/lib/systemd/zram-generator.conf 2>/dev/null | grep -q .; then echo on
     else echo absent; fi`,
  (out) => out.trim() as 'absent' | 'off' | 'on',
);
