import { sh } from '../../shell/sh.ts';
import { lines, probe } from '../../shell/probe.ts';

/** The state of cloud-init, which may reboot a host or lock its packages. `absent` also where it is switched off. */
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
