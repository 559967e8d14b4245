import { lines, probeInPlace, wordOf } from '../shell/probe.ts';
import { sh } from '../shell/sh.ts';
import { script, using } from '../templates.ts';

/** Active swap devices and files, as in /proc/swaps. */
export const swaps = probeInPlace(
  sh`{ read -r _; while IFS= read -r line; do printf '%s\\n' "$line"; done; } </proc/swaps`,
  (out) => lines(out).map((line) => line.split(/\s+/)[0]!),
);

/** Lines of /etc/fstab that would turn swap on at boot. */
export const fstabSwaps = probeInPlace(
  using('host/show-text.sh', sh`if [ -e /etc/fstab ]; then show_text /etc/fstab; fi`),
  (out) => lines(out).filter((line) => !/^\s*#/.test(line) && line.trim().split(/\s+/)[2] === 'swap'),
);

/** A unit that turns swap on. */
interface SwapUnit {
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
export const swapUnits = probeInPlace(
  script('host/probe-swap-units.sh', { SERVICES: SWAP_SERVICES }),
  (out): readonly SwapUnit[] =>
    out.split(/^(?=Unit=)/m).flatMap((block) => {
      const field = (name: string) => new RegExp(`^${name}=(.*)$`, 'm').exec(block)?.[1] ?? '';
      const name = field('Unit');
      return name === '' || field('SourcePath') === '/etc/fstab' ? [] : [{ name, file: field('FragmentPath') }];
    }),
);

/** What zram-generator makes: `absent` (not installed), `off` (an empty file overrides it) or `on`. */
export const zram = probeInPlace(script('host/probe-zram.sh'), wordOf('absent', 'off', 'on'));
