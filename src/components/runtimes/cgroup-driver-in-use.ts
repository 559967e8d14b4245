import { lines, probe, type Probe } from '../../shell/probe.ts';
import { sh } from '../../shell/sh.ts';

/** Which cgroup driver is in use; `none` if no pod runs, `mixed` if runtime and kubelet disagree. */
export type DriverInUse = 'systemd' | 'cgroupfs' | 'none' | 'mixed';

/**
 * The cgroup driver that kubelet and runtime really use, read from the cgroups of running containers: the systemd driver
 * nests slices and scopes (`/kubepods.slice/…/SCOPE-ID.scope`), cgroupfs plain folders (`/kubepods/…/ID`).
 * `scope` is what the names of the runtime's scopes begin with.
 */
export const cgroupDriverInUse = (scope: string): Probe<DriverInUse> =>
  probe(
    sh`cat /proc/[0-9]*/cgroup 2>/dev/null | grep -E ${`/kubepods|${scope}`} | cut -d: -f3- | sort -u || true`,
    (out): DriverInUse => {
      const drivers = new Set(
        lines(out).flatMap((path) => [
          path.includes('/kubepods.slice') ? 'systemd' : 'cgroupfs',
          ...(/[0-9a-f]{64}/.test(path)
            ? [path.endsWith('.scope') ? ('systemd' as const) : ('cgroupfs' as const)]
            : []),
        ]),
      );
      if (drivers.size === 0) return 'none';
      return drivers.size === 1 ? ([...drivers][0] as DriverInUse) : 'mixed';
    },
  );
