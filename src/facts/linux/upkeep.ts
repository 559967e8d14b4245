import { sh } from '../../shell/sh.ts';
import { lines, probe } from '../../shell/probe.ts';

/** Why the host wants a reboot: packages, or an empty list when it does not say; `none`. */
export const pendingReboot = probe(
  sh`if [ -e /run/reboot-required ]; then echo pending; if [ -e /run/reboot-required.pkgs ]; then sort -u /run/reboot-required.pkgs; fi; fi`,
  (out): readonly string[] | 'none' => (out.startsWith('pending') ? lines(out).slice(1) : 'none'),
);

/** What cloud-init is about: it may reboot a host or lock its packages. `absent` also where it is switched off. */
export const cloudInit = probe(
  sh`if ! [ -e /run/cloud-init/status.json ]; then echo absent
     elif ! [ -e /run/cloud-init/result.json ]; then echo running
     elif grep -q '"errors": \\[\\]' /run/cloud-init/result.json; then echo done; else echo failed; fi`,
  (out) => {
    const state = out.trim();
    if (state !== 'absent' && state !== 'running' && state !== 'done' && state !== 'failed')
      throw new Error(`unexpected output: ${state}`);
    return state;
  },
);

/** Somebody who holds a lock of the package manager. */
export interface PackageLock {
  readonly file: string;
  readonly pid: number;
  /** Name of the process. */
  readonly process: string;
}

/** Who holds dpkg's and apt's locks, by their inodes in /proc/locks: asking for a lock would take it. */
export const packageLocks = probe(
  sh`for file in /var/lib/dpkg/lock-frontend /var/lib/dpkg/lock /var/lib/apt/lists/lock; do
       if ! [ -e "$file" ]; then continue; fi
       inode=$(stat -c %i "$file")
       grep -E "^[0-9]+: (POSIX|OFDLCK|FLOCK) .*:$inode " /proc/locks | while read -r _ _ _ _ pid _; do
         if [ -e "/proc/$pid/comm" ]; then echo "$file $pid $(cat "/proc/$pid/comm")"; fi
       done
     done`,
  (out): readonly PackageLock[] =>
    lines(out).flatMap((line) => {
      const [, file, pid, process] = /^(\S+) (\d+) (.*)$/.exec(line) ?? [];
      // An inode is unique on one file system only.
      return file === undefined || !/apt|dpkg|unattended|aptitude|packagekit|synaptic|python|perl/i.test(process!)
        ? []
        : [{ file, pid: Number(pid), process: process! }];
    }),
);

/** Services that keep the clock right and that run. */
export const timeServices = probe(
  // One line a unit, in order; its status only says whether all are active.
  sh`set -- chrony chronyd ntp ntpd ntpsec openntpd systemd-timesyncd vmtoolsd qemu-guest-agent
     states=$(systemctl is-active "$@" 2>/dev/null || true)
     for state in $states; do
       if [ "$state" = active ]; then echo "$1"; fi
       shift
     done
     [ $# = 0 ]`,
  (out) => lines(out).filter((unit) => unit !== 'qemu-guest-agent'),
);
