import { sh } from '../../shell/sh.ts';
import { lines, probe } from '../probe.ts';

/** Active swap devices and files, as in /proc/swaps. */
export const swaps = probe(sh`tail -n +2 /proc/swaps`, (out) => lines(out).map((line) => line.split(/\s+/)[0]!));

/** Lines of /etc/fstab that would turn swap on at boot. */
export const fstabSwaps = probe(sh`if [ -e /etc/fstab ]; then cat /etc/fstab; fi`, (out) =>
  lines(out).filter((line) => !/^\s*#/.test(line) && line.trim().split(/\s+/)[2] === 'swap'),
);

/** A unit that turns swap on. */
export interface SwapUnit {
  readonly name: string;
  /** Where it is defined; a generator's lie in /run/systemd. */
  readonly file: string;
}

/** Services of packages that make swap: zram-tools, zram-config, dphys-swapfile, swapspace. */
const SWAP_SERVICES = ['zramswap.service', 'zram-config.service', 'dphys-swapfile.service', 'swapspace.service'];

/**
 * Units that would turn swap on at boot: swap units that are not masked, and the services that make swap when enabled.
 * Those that systemd generates from /etc/fstab are left out, they go with the line; those it generates for GPT
 * partitions are not.
 */
export const swapUnits = probe(
  // swap.target is always there: without any match, systemctl would fail.
  sh`units=$(systemctl list-unit-files --plain --no-legend --no-pager --full swap.target '*.swap' ${SWAP_SERVICES})
     echo "$units" | while read -r unit state _; do
       case $unit:$state in
         swap.target:* | *:masked | *:masked-runtime) continue ;;
         *.service:enabled | *.service:enabled-runtime | *.swap:*) ;;
         *) continue ;;
       esac
       echo "Unit=$unit"
       systemctl show -p FragmentPath,SourcePath "$unit"
     done`,
  (out): readonly SwapUnit[] =>
    out.split(/^(?=Unit=)/m).flatMap((block) => {
      const field = (name: string) => new RegExp(`^${name}=(.*)$`, 'm').exec(block)?.[1] ?? '';
      const name = field('Unit');
      return name === '' || field('SourcePath') === '/etc/fstab' ? [] : [{ name, file: field('FragmentPath') }];
    }),
);

/** What zram-generator makes: `absent` (not installed), `off` (an empty file overrides it) or `on`. */
export const zram = probe(
  sh`if [ -e /etc/systemd/zram-generator.conf ]; then
       if grep -q '^ *[[]zram' /etc/systemd/zram-generator.conf; then echo on; else echo off; fi
     elif ls /usr/lib/systemd/zram-generator.conf /usr/local/lib/systemd/zram-generator.conf 2>/dev/null | grep -q .; then echo on
     else echo absent; fi`,
  (out) => {
    const state = out.trim();
    if (state !== 'absent' && state !== 'off' && state !== 'on') throw new Error(`unexpected output: ${state}`);
    return state;
  },
);
